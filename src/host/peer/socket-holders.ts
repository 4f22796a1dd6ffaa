import { linkTarget, listPids, namesIn, threadsOf } from '../kernel/index.js';

/** The processes that have a socket open, as far as we may look. All of our own sandboxes are visible to us. */
export interface SocketHolders {
  /** A process in our own pid and user namespaces. */
  readonly inOurNamespaces: boolean;
  /** A process in other namespaces, as everything in a sandbox is. */
  readonly inOtherNamespaces: boolean;
}

const NAMESPACES: readonly string[] = ['pid', 'user'];

export function holdersOf(inode: number): SocketHolders {
  const own = namespacesOf('self');
  const pids = listPids();
  // If processes cannot be listed, they must not be taken for absent.
  if (pids === null) throw new Error('The processes of this machine cannot be listed.');
  const holders = pids.filter((pid) => hasOpen(pid, `socket:[${inode}]`));
  const isOurs = holders.map((pid) => namespacesOf(pid) === own);
  return { inOurNamespaces: isOurs.includes(true), inOtherNamespaces: isOurs.includes(false) };
}

/** True if a process has the socket open, threads that keep descriptors of their own aside. */
export function holds(pid: string, inode: number): boolean {
  return namesIn(`/proc/${pid}/fd`).some((fd) => linkTarget(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`);
}

/** Threads may have separate descriptor tables. */
function hasOpen(pid: string, socket: string): boolean {
  return threadsOf(pid).some((thread) =>
    namesIn(`${thread}/fd`).some((fd) => linkTarget(`${thread}/fd/${fd}`) === socket),
  );
}

function namespacesOf(pid: string): string {
  return NAMESPACES.map((kind) => linkTarget(`/proc/${pid}/ns/${kind}`)).join();
}
