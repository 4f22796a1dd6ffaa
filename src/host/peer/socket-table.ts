import { readFileSync } from 'node:fs';
import { addressKey, keyOfKernelAddress } from '../kernel/index.js';

/** Both ends of a TCP connection, from our side. */
export interface ConnectionEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/** The other end, if it is a socket on this machine. */
export interface PeerSocket {
  readonly uid: number;
  /** 0 if no process has it open any more. */
  readonly inode: number;
}

/** An IPv6 socket may speak IPv4, so either table may hold either. */
const TABLES: readonly string[] = ['/proc/net/tcp', '/proc/net/tcp6'];

const LOCAL = 1;
const REMOTE = 2;
const UID = 7;
const INODE = 9;

/** Null if this machine has no such socket. */
export function findPeerSocket(ends: ConnectionEnds): PeerSocket | null {
  const own = keyOf(ends.localAddress, ends.localPort);
  const peer = keyOf(ends.remoteAddress, ends.remotePort);
  for (const table of TABLES)
    for (const line of linesOf(table)) {
      const fields = line.trim().split(/\s+/);
      if (kernelKey(fields[LOCAL]) === peer && kernelKey(fields[REMOTE]) === own)
        return { uid: Number(fields[UID]), inode: Number(fields[INODE]) };
    }
  return null;
}

function keyOf(address = '', port = 0): string {
  return `${addressKey(address)}:${port}`;
}

function kernelKey(field = ''): string {
  const [address = '', port = ''] = field.split(':');
  return `${keyOfKernelAddress(address)}:${Number.parseInt(port, 16)}`;
}

/** Without the header line. A machine without IPv6 has no such table. */
function linesOf(table: string): string[] {
  try {
    return readFileSync(table, 'latin1').trimEnd().split('\n').slice(1);
  } catch {
    return [];
  }
}
