import { readdirSync, readlinkSync } from 'node:fs';

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
  const holders = processes().filter((pid) => hasOpen(pid, `socket:[${inode}]`));
  const besides = holders.map((pid) => namespacesOf(pid) === own);
  return { beside: besides.includes(true), apart: besides.includes(false) };
}

function processes(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
}

/** A thread may have files of its own. */
function hasOpen(pid: string, socket: string): boolean {
  return listed(`/proc/${pid}/task`).some((thread) => {
    const directory = `/proc/${pid}/task/${thread}/fd`;
    return listed(directory).some((fd) => targetOf(`${directory}/${fd}`) === socket);
  });
}

function namespacesOf(pid: string): string {
  return NAMESPACES.map((kind) => targetOf(`/proc/${pid}/ns/${kind}`)).join();
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
