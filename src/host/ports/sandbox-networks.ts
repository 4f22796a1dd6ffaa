import { linkTarget } from '../kernel/index.js';

/** A running sandbox. */
export interface RunningSandbox {
  readonly treeId: number;
  /** Its first process; null once it has ended. */
  readonly initPid: () => number | null;
}

/** A network that is not ours, and a process in it. */
export interface SandboxNetwork {
  /** As long as the network exists, no other has this name. */
  readonly name: string;
  readonly pid: number;
}

const sandboxes = new Set<RunningSandbox>();

/** The ports of this sandbox are looked for. Returns a function that ends that. */
export function addSandbox(sandbox: RunningSandbox): () => void {
  sandboxes.add(sandbox);
  return () => void sandboxes.delete(sandbox);
}

/** The networks of all running sandboxes that do not share ours. Several sandboxes may share one. */
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
