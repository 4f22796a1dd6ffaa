import { linkTarget, namesIn, statOf } from '../kernel/index.js';
import { currentTrees } from '../spawn/index.js';

/** The process that listens, and its tree. */
export interface SocketOwner {
  readonly pid: number;
  readonly treeId: number;
}

/** Finds out which of our process trees a socket belongs to, once per socket. */
export class SocketOwners {
  /** Null: it belongs to none of our trees. */
  readonly #known = new Map<number, SocketOwner | null>();

  get(inode: number): SocketOwner | null {
    return this.#known.get(inode) ?? null;
  }

  /** Finds the owners of new sockets. Call with all existing sockets; the others are forgotten. */
  async update(inodes: ReadonlySet<number>): Promise<void> {
    for (const [inode, owner] of this.#known) {
      // The owner may be gone while a child that inherited the socket still has it.
      if (!inodes.has(inode) || (owner && statOf(owner.pid) === null)) this.#known.delete(inode);
    }
    const wanted = new Set([...inodes].filter((inode) => !this.#known.has(inode)));
    if (wanted.size === 0) return;
    const found = await findOwners(wanted);
    for (const inode of wanted) this.#known.set(inode, found.get(inode) ?? null);
  }
}

const SOCKET_LINK = /^socket:\[(\d+)\]$/;

/** Members are sorted by pid, so a parent usually precedes the children that inherit its socket. */
async function findOwners(inodes: ReadonlySet<number>): Promise<Map<number, SocketOwner>> {
  const found = new Map<number, SocketOwner>();
  for (const [treeId, members] of await currentTrees())
    for (const { pid } of members)
      for (const inode of socketsOf(pid))
        if (inodes.has(inode) && !found.has(inode)) found.set(inode, { pid, treeId });
  return found;
}

/** The sockets a process has open; none if we may not read them. */
function socketsOf(pid: number): number[] {
  const directory = `/proc/${pid}/fd`;
  return namesIn(directory).flatMap((fd) => {
    const [, inode] = SOCKET_LINK.exec(linkTarget(`${directory}/${fd}`)) ?? [];
    return inode === undefined ? [] : [Number(inode)];
  });
}
