import { readFileSync } from 'node:fs';
import { mentionsScarcity } from '../../kernel/index.js';

/** Why sandboxes are unavailable here: a stable word, a sentence, and what to do about it. */
export interface SandboxGap {
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
}

/** Gaps that are known without trying. */
export const gaps = {
  platform: {
    reason: 'platform',
    message: 'Sandboxes need Linux on x86-64 or arm64.',
    hint: 'Run Execwire in a Linux container or virtual machine.',
  },
  libcUnavailable: {
    reason: 'libcUnavailable',
    message: 'The C library of this machine cannot be reached, so no sandbox can be set up.',
    hint: 'Install the optional native parts of the package for this platform.',
  },
  bubblewrapMissing: {
    reason: 'bubblewrapMissing',
    message: 'bubblewrap is not installed.',
    hint: 'Install your distribution’s package "bubblewrap". A bwrap in PATH is used only if nobody else can change it.',
  },
  bubblewrapWritable: {
    reason: 'bubblewrapWritable',
    message: 'A policy lets confined programs replace bubblewrap itself.',
    hint: 'Install bubblewrap where no policy lets programs write, such as /usr/bin, and restart the server.',
  },
  bubblewrapTooOld: {
    reason: 'bubblewrapTooOld',
    message: 'The installed bubblewrap is too old.',
    hint: 'Install bubblewrap 0.6 or newer.',
  },
  networkNotManaged: {
    reason: 'managedNetwork',
    message: 'A network with rules for hosts cannot be set up here.',
    hint: 'Install your distribution’s package "util-linux", which contains nsenter, or restrict the network.',
  },
  changesNotHeld: {
    reason: 'changes',
    message: 'Changes cannot be held here: the tools that mount file systems are missing.',
    hint: 'Install your distribution’s packages "util-linux" and "mount", or start without `changes`.',
  },
  noRoom: {
    reason: 'resourceLimit',
    message: 'The machine lacked the resources to try out a sandbox.',
    hint: 'Try again. If it keeps happening, raise the limits on open files and processes.',
  },
} as const satisfies Record<string, SandboxGap>;

/** True if it may be gone the next time, so it must not be remembered. */
export function isTransient({ reason }: Pick<SandboxGap, 'reason'>): boolean {
  return reason === gaps.noRoom.reason || reason === 'namespacesExhausted';
}

/** Reads a kernel switch; null if this kernel does not have it. */
export type ReadSwitch = (name: string) => string | null;

const switchOfThisKernel: ReadSwitch = (name) => {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim();
  } catch {
    return null;
  }
};

/** Turns bubblewrap's output and the kernel's switches into advice. */
export function explainFailure(said: string, readSwitch: ReadSwitch = switchOfThisKernel): SandboxGap {
  const namespaces = /namespace|uid map|RTM_NEW|clone|unshare/i.test(said);
  const exhausted = namespaces && /ENOSPC|max_/.test(said);
  if (!exhausted && mentionsScarcity(said)) return gaps.noRoom;
  if (namespaces && readSwitch('kernel/apparmor_restrict_unprivileged_userns') === '1')
    return {
      reason: 'appArmor',
      message: 'AppArmor keeps plain users from creating namespaces.',
      hint: 'Install an AppArmor profile that allows userns for bwrap, or set kernel.apparmor_restrict_unprivileged_userns=0.',
    };
  if (namespaces && readSwitch('kernel/unprivileged_userns_clone') === '0')
    return {
      reason: 'userNamespacesOff',
      message: 'This kernel keeps plain users from creating namespaces.',
      hint: 'Set kernel.unprivileged_userns_clone=1.',
    };
  if (namespaces && readSwitch('user/max_user_namespaces') === '0')
    return {
      reason: 'userNamespacesOff',
      message: 'User namespaces are switched off here.',
      hint: 'Set user.max_user_namespaces to a few thousand.',
    };
  if (exhausted)
    return {
      reason: 'namespacesExhausted',
      message: 'The limit on namespaces has been reached.',
      hint: 'Wait for other sandboxes to end, or raise the limits below /proc/sys/user.',
    };
  if (namespaces)
    return {
      reason: 'namespacesForbidden',
      message: 'Namespaces cannot be created here; this is usual inside a container.',
      hint: 'Give the container the right to create namespaces, or let it be the sandbox: use the policy externalSandbox.',
    };
  if (/proc/.test(said))
    return {
      reason: 'procForbidden',
      message: 'A /proc of its own cannot be mounted here; this is usual inside a container.',
      hint: 'Start the container with unmasked system paths, or use the policy externalSandbox.',
    };
  return {
    reason: 'bubblewrapFailed',
    message: 'bubblewrap does not work here.',
    hint: 'Run "bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all true" to see why.',
  };
}
