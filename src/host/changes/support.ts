import { readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { ExecError } from '../../protocol/errors.js';
import { crypto, setExtendedAttribute, trustedProgram } from '../kernel/index.js';
import { gaps, type SandboxGap, sandboxSupport } from '../sandbox/index.js';
import { HeldMounts } from './held-mounts.js';
import type { MountTools, Rights } from './mount-script.js';
import { MountFailure } from './mounting.js';
import { makePrivateDirectory } from './set-record.js';

/** Whether changes can be held here, and how. */
export type ChangesSupport =
  | { readonly available: true; readonly tools: MountTools; readonly rights: Rights }
  | ({ readonly available: false } & SandboxGap);

/** `OVERLAYFS_SUPER_MAGIC`. */
export const OVERLAY_MAGIC = 0x794c7630;

/** By directory and user: a program that embeds us may become another one. */
const known = new Map<string, Promise<ChangesSupport>>();

/** Determined once for each directory, by trying. What does not work now may work later, so a failure is tried again. */
export function changesSupport(directory: string): Promise<ChangesSupport> {
  const key = `${process.geteuid?.()} ${directory}`;
  const probed = known.get(key) ?? probe(directory);
  known.set(key, probed);
  const forget = (): unknown => known.delete(key);
  probed.then(({ available }) => available || forget(), forget);
  return probed;
}

/** For a start that cannot be. */
export function changesUnavailable({ reason, message, hint }: SandboxGap): ExecError {
  return new ExecError('sandboxUnavailable', message, { data: { reason, hint } });
}

async function probe(directory: string): Promise<ChangesSupport> {
  const sandbox = await sandboxSupport();
  if (!sandbox.available) return { ...sandbox, available: false };
  const tools = findTools();
  if (tools === null) return { available: false, ...gaps.changesNotHeld };
  const { uid, gid } = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const rights = sandbox.root && !sandbox.userNamespace ? null : { uid, gid };
  const trial = join(directory, `.probe-${crypto().randomUUID()}`);
  try {
    makePrivateDirectory(join(trial, 'base'));
    for (const layer of ['upper', 'work', 'view']) makePrivateDirectory(join(trial, '0', layer));
    const gap = reasonNotTo(trial);
    if (gap) return { available: false, ...gap };
    await tryMount(trial, { tools, rights });
    return { available: true, tools, rights };
  } catch (error) {
    return { available: false, ...explain(error) };
  } finally {
    removeTrial(trial);
  }
}

function removeTrial(trial: string): void {
  try {
    rmSync(trial, { recursive: true, force: true });
  } catch {
    // Where nothing can be made, there is nothing to remove.
  }
}

async function tryMount(trial: string, options: { tools: MountTools; rights: Rights }): Promise<void> {
  const mounts = new HeldMounts('probe');
  try {
    await mounts.add([{ path: join(trial, 'base'), place: join(trial, '0') }], options);
  } finally {
    mounts.close();
  }
}

function findTools(): MountTools | null {
  const [unshare, nsenter, mount] = (['unshare', 'nsenter', 'mount'] as const).map(trustedProgram);
  const shell = trustedProgram('dash') ?? trustedProgram('bash');
  return unshare && nsenter && mount && shell ? { unshare, nsenter, mount, shell } : null;
}

/** What is known without trying. */
function reasonNotTo(directory: string): SandboxGap | null {
  if (statfsSync(directory).type === OVERLAY_MAGIC)
    return {
      reason: 'changesOnOverlay',
      message:
        'Changes cannot be held here: they would be kept on an overlay file system, such as the root of a container.',
      hint: 'Point --changes-dir at a directory on a volume, or mount a tmpfs there.',
    };
  try {
    setExtendedAttribute(Buffer.from(directory), { name: 'user.execwire', value: Buffer.from('1') });
  } catch {
    return {
      reason: 'changesNoAttributes',
      message:
        'Changes cannot be held here: the file system they would be kept on has no extended attributes.',
      hint: 'Point --changes-dir at a directory on ext4, xfs, btrfs or a recent tmpfs.',
    };
  }
  return null;
}

/** True in doubt. */
function knowsOverlays(): boolean {
  try {
    return readFileSync('/proc/filesystems', 'utf8').includes('overlay');
  } catch {
    return true;
  }
}

function explain(error: unknown): SandboxGap {
  const { syscall, code } = error as NodeJS.ErrnoException;
  if (syscall === 'mkdir')
    return {
      reason: 'changesDirectory',
      message: `Changes cannot be held here: the directory they would be kept in cannot be created (${code}).`,
      hint: 'Point --changes-dir at a directory that the server may write to.',
    };
  const said = error instanceof MountFailure || error instanceof Error ? error.message : String(error);
  if (!knowsOverlays())
    return {
      reason: 'changesNoOverlay',
      message: 'Changes cannot be held here: this kernel has no overlay file system.',
      hint: 'Load the kernel module "overlay" as root.',
    };
  return {
    reason: 'changes',
    message: `Changes cannot be held here: ${said.split('\n')[0]}`,
    hint: 'Overlays of plain users need Linux 5.11 or newer and user namespaces.',
  };
}
