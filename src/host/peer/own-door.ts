import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { listeningSockets, listPids } from '../kernel/index.js';
import { holds } from './socket-holders.js';
import { isOfThisMachine } from './this-machine.js';

/**
 * True if one of our servers, this one or another on this machine, listens there. What they run is not confined, so
 * nobody in a sandbox may reach them, whichever way.
 */
export function isOwnDoor(address: string, port: number): boolean {
  if (!isOfThisMachine(address)) return false;
  const listeners = listeningSockets().filter((each) => each.port === port);
  if (listeners.length === 0) return false;
  const ours = ['self', ...(listPids() ?? []).filter(isServer)];
  return ours.some((pid) => listeners.some(({ inode }) => holds(pid, inode)));
}

/** Reading a command line is quick. Only of those that look like ours do we read what they have open. */
function isServer(pid: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 3);
    return command.some((part) => basename(part).startsWith('execwire'));
  } catch {
    return false;
  }
}
