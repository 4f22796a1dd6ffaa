import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { listeningSockets, listPids } from '../kernel/index.js';
import { holds } from './socket-holders.js';
import { isOfThisMachine } from './this-machine.js';

/**
 * Looking through all processes takes milliseconds, and a program may ask thousands of times. So a result is used for this long.
 * In the meantime the socket may be handed on, but only to a server that takes longer than this to start.
 */
const KNOWN_FOR_MS = 250;

const known = new Map<number, { readonly isOurs: boolean; readonly at: number }>();

/**
 * True if one of our servers, this one or another on this machine, listens there. What they run is not confined, so no program in
 * a sandbox may reach them in any way.
 */
export function isOwnDoor(address: string, port: number): boolean {
  if (!isOfThisMachine(address)) return false;
  const inodes = listeningSockets().flatMap((each) => (each.port === port ? [each.inode] : []));
  if (inodes.length === 0) return false;
  const now = performance.now();
  for (const [inode, { at }] of known) if (now - at > KNOWN_FOR_MS) known.delete(inode);
  if (!inodes.every((inode) => known.has(inode))) lookAt(inodes, now);
  return inodes.some((inode) => known.get(inode)?.isOurs);
}

function lookAt(inodes: readonly number[], at: number): void {
  const ours = ['self', ...(listPids() ?? []).filter(isServer)];
  for (const inode of inodes) known.set(inode, { isOurs: ours.some((pid) => holds(pid, inode)), at });
}

/** What our command is called, however it was installed. */
const OUR_PROGRAM = /^execwire(\.js)?$/;

/** Options of Node may precede it. */
const MAX_PARTS = 16;

/** Reading a command line is quick. Only of those that look like ours do we read what they have open. */
function isServer(pid: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', MAX_PARTS);
    return command.some((part) => OUR_PROGRAM.test(basename(part)));
  } catch {
    return false;
  }
}
