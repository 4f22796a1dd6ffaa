import { readFileSync } from 'node:fs';
import { addressText, keyOfKernelAddress } from './ip-bytes.js';
import { dumpListeners } from './socket-diagnosis.js';

/** A TCP socket that accepts connections. */
export interface ListeningSocket {
  /** `0.0.0.0` and `::` stand for every address. */
  readonly address: string;
  readonly port: number;
  /** Identifies the socket while it exists. */
  readonly inode: number;
}

/** The names of the tables below `/proc/PID/net`. */
export const SOCKET_TABLES: readonly string[] = ['tcp', 'tcp6'];

const LOCAL = 1;
const STATE = 3;
const INODE = 9;

/** The kernel's number for a socket that listens. */
const LISTENING = '0A';

/**
 * The listening sockets of our own network. The kernel is asked for exactly those: its tables in /proc take a thousand times
 * as long to read, because they show every connection.
 */
export function listeningSockets(): ListeningSocket[] {
  return dumpListeners() ?? SOCKET_TABLES.flatMap((name) => listenersInTable(tableText(`/proc/net/${name}`)));
}

/** The listening sockets in the text of such a table. */
export function listenersInTable(text: string): ListeningSocket[] {
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[STATE] === LISTENING)
    .map((fields) => ({ ...placeOf(fields[LOCAL]), inode: Number(fields[INODE]) }));
}

function placeOf(field = ''): { address: string; port: number } {
  const [address = '', port = ''] = field.split(':');
  return { address: addressText(keyOfKernelAddress(address)), port: Number.parseInt(port, 16) };
}

/** A machine without IPv6 has no table for it. */
function tableText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
