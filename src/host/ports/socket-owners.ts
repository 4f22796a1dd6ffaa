import { linkTarget, namesIn, statOf } from '../kernel/index.js';
import { currentTrees } from '../spawn/index.js';

/** Who listens: a process, and the tree it belongs to. */
export interface SocketOwner {
  readonly pid: number;
  readonly treeId: number;
}

/** Finds out which of our trees a socket belongs to, once for each socket. */
export class SocketOwners {
  /** Null: it belongs to none of them. */
  readonly #known = new Map<number, SocketOwner | null>();

  get(inode: number): SocketOwner | null {
    return this.#known.get(inode) ?? null;
  }

  /** Looks for the owners of sockets that are new. Call with all sockets there are: the others are forgotten. */
  async update(inodes: ReadonlySet<number>): Promise<void> {
    for (const [inode, owner] of this.#known) {
      // A child may have inherited the socket of a parent that is gone.
      if (!inodes.has(inode) || (owner && statOf(owner.pid) === null)) this.#known.delete(inode);
    }
    const wanted = new Set([...inodes].filter((inode) => !this.#known.has(inode)));
    if (wanted.size === 0) return;
    const found = await findOwners(wanted);
    for (const inode of wanted) this.#known.set(inode, found.get(inode) ?? null);
  }
}

const SOCKET_LINK = /^socket:\[(\d+)\]$/;

/** Members come in the order of their pids, so a parent usually goes before the children that inherit its socket. */
async function findOwners(inodes: ReadonlySet<number>): Promise<Map<number, SocketOwner>> {
  const found = new Map<number, SocketOwner>();
  for (const [treeId, members] of await currentTrees())
    for (const { pid } of members)
      for (const inode of socketsOf(pid))
        if (inodes.has(inode) && !found.has(inode)) found.set(inode, { pid, treeId });
  return found;
}

/** The sockets a process has open; none if we may not look. */
function socketsOf(pid: number): number[] {
  const directory = `/proc/${pid}/fd`;
  return namesIn(directory).flatMap((fd) => {
    const [, inode] = SOCKET_LINK.exec(linkTarget(`${directory}/${fd}`)) ?? [];
    return inode === undefined ? [] : [Number(inode)];
  });
}
