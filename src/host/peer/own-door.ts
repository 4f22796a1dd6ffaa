import { basename } from 'node:path';
import { readFileSync } from 'node:fs';
import { holderPids } from './socket-holders.js';
import { findListeners } from './socket-table.js';
import { isOfThisMachine } from './this-machine.js';

/**
 * True if one of our servers, this one or another on this machine, listens there. What they run is not confined, so
 * nobody in a sandbox may reach them, whichever way.
 */
export function isOwnDoor(address: string, port: number): boolean {
  if (!isOfThisMachine(address)) return false;
  return findListeners(port).some((inode) => holderPids(inode).some(isOurs));
}

function isOurs(pid: string): boolean {
  return (
    pid === String(process.pid) ||
    commandOf(pid)
      .slice(0, 3)
      .some((part) => basename(part).startsWith('execwire'))
  );
}

function commandOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
