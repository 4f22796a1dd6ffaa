import { linkTarget } from '../kernel/index.js';

/** A running sandbox. */
export interface RunningSandbox {
  readonly treeId: number;
  /** Its first process; null once it has ended. */
  readonly initPid: () => number | null;
}

/** The network of a sandbox, and a process in it. */
export interface SandboxNetwork {
  /** Unique while the network exists. */
  readonly name: string;
  readonly pid: number;
}

const sandboxes = new Set<RunningSandbox>();

/** Includes the ports of a sandbox in scans. Returns a function that removes it again. */
export function addSandbox(sandbox: RunningSandbox): () => void {
  sandboxes.add(sandbox);
  return () => void sandboxes.delete(sandbox);
}

/** The networks of all running sandboxes, except for ours. Several sandboxes may share one. */
export function sandboxNetworks(): SandboxNetwork[] {
  const own = networkOf('self');
  const found = new Map<string, SandboxNetwork>();
  for (const { initPid } of sandboxes) {
    const pid = initPid();
    const name = pid === null ? '' : networkOf(pid);
    if (pid !== null && name !== '' && name !== own) found.set(name, { name, pid });
  }
  return [...found.values()];
}

function networkOf(pid: number | 'self'): string {
  return linkTarget(`/proc/${pid}/ns/net`);
}
