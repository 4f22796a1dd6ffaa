import { fileURLToPath } from 'node:url';
import { openChosen } from '../../environment/open-environment.js';
import { defaultChangesDirectory } from '../../environment/index.js';
import {
  ChangeSets,
  type ChangesSupport,
  hostCapabilities,
  type HostCapabilities,
  packageFile,
} from '../../host/index.js';
import { probeSandbox, type SandboxSupport } from '../../host/sandbox/index.js';
import { type Diagnosis, diagnose, type Probe } from './diagnosis.js';

/** How processes are started and tracked on this machine. There is nothing to measure. */
export function describeHost(capabilities: HostCapabilities = hostCapabilities()): Diagnosis[] {
  const { backend, lineage, watchdog } = capabilities;
  const trees = lineage === 'mark' && watchdog;
  return [
    {
      layer: 'backend',
      verdict: backend === 'posixSpawn' ? 'ok' : 'slow',
      ms: null,
      hint:
        backend === 'posixSpawn'
          ? null
          : 'posix_spawn is not available: there are no terminals, and the larger the server, the slower every start.',
    },
    {
      layer: 'process trees',
      verdict: trees ? 'ok' : 'slow',
      ms: null,
      hint: trees
        ? null
        : 'Processes that detach from both their session and their parent survive when their tree is killed.',
    },
  ];
}

/** Reasons that are not faults: no sandbox is installed, or none exists for this system. */
const ABSENCES: readonly string[] = ['bubblewrapMissing', 'platform'];

/** Checks whether this machine can confine programs, by doing it. */
export async function examineSandbox(): Promise<Diagnosis> {
  let support: SandboxSupport | undefined;
  const measured = await diagnose({
    layer: 'sandbox',
    slowMs: 500,
    slowHint: 'Entering the sandbox is slow, which delays every sandboxed command.',
    measure: async () => {
      support = await probeSandbox();
    },
  });
  if (!support) return measured;
  if (support.available) return { ...measured, hint: measured.hint ?? enforceable(support) };
  const { reason, message, hint } = support;
  const verdict = ABSENCES.includes(reason) ? 'absent' : 'broken';
  return { layer: 'sandbox', verdict, ms: null, hint: `${message} ${hint}` };
}

/** Checks whether changes can be held where they are kept by default, by doing it. Without a sandbox, that says why. */
export async function examineChanges(): Promise<Diagnosis> {
  let support: ChangesSupport | undefined;
  const measured = await diagnose({
    layer: 'held changes',
    slowMs: 1_000,
    slowHint: 'Mounting is slow, which delays the first command of every set of held changes.',
    measure: async () => {
      support = await new ChangeSets({ directory: defaultChangesDirectory() }).support();
    },
  });
  if (support === undefined || support.available) return measured;
  return { layer: 'held changes', verdict: 'absent', ms: null, hint: `${support.message} ${support.hint}` };
}

/** Describes what this machine can enforce. */
export function enforceable({
  processLimit,
  laterMounts,
}: Pick<Extract<SandboxSupport, { available: true }>, 'processLimit' | 'laterMounts'>): string {
  const always = 'Enforces files, network, sockets and system calls';
  const limits = processLimit
    ? `${always}, and process limits.`
    : `${always}; no process limits, because there is no writable cgroup with the pids controller.`;
  return laterMounts === 'reachIt'
    ? `${limits} File systems mounted while a program runs are visible to it unrestricted, because unshare(1) cannot keep them out here.`
    : limits;
}

/** Times a server over stdio, from its start to its first answer. */
export function serverProbe(): Probe {
  return {
    layer: 'server start',
    slowMs: 1_500,
    slowHint: 'A server is slow to give its first answer; over ssh this delays every connection.',
    measure: async () => {
      const bin = fileURLToPath(packageFile('bin/execwire.js'));
      const args = [bin, 'serve', '--listen', 'stdio', '--log-level', 'silent'];
      const began = performance.now();
      await using _server = await openChosen({ id: 'doctor', program: process.execPath, args, env: {} });
      return performance.now() - began;
    },
  };
}
