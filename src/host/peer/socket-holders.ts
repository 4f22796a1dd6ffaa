import { linkTarget, listPids, namesIn, threadsOf } from '../kernel/index.js';

/** Who has a socket open, as far as we may look. All of our own sandboxes are open to us. */
export interface SocketHolders {
  /** Somebody with our own process and user namespace. */
  readonly beside: boolean;
  /** Somebody with another one, as everybody in a sandbox has. */
  readonly apart: boolean;
}

const NAMESPACES: readonly string[] = ['pid', 'user'];

export function holdersOf(inode: number): SocketHolders {
  const own = namespacesOf('self');
  const pids = listPids();
  // Who cannot be looked for is not to be taken for absent.
  if (pids === null) throw new Error('The processes of this machine cannot be listed.');
  const holders = pids.filter((pid) => hasOpen(pid, `socket:[${inode}]`));
  const besides = holders.map((pid) => namespacesOf(pid) === own);
  return { beside: besides.includes(true), apart: besides.includes(false) };
}

/** A thread may have files of its own. */
function hasOpen(pid: string, socket: string): boolean {
  return threadsOf(pid).some((thread) =>
    namesIn(`${thread}/fd`).some((fd) => linkTarget(`${thread}/fd/${fd}`) === socket),
  );
}

function namespacesOf(pid: string): string {
  return NAMESPACES.map((kind) => linkTarget(`/proc/${pid}/ns/${kind}`)).join();
}
