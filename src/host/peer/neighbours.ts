import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { listPids } from '../kernel/index.js';
import { SHARED_NETWORK } from '../sandbox/index.js';

const SANDBOX_PROGRAM = 'bwrap';

/** What follows its name in a command line. */
const MARK = `\0${SHARED_NETWORK.join('\0')}\0`;

/** Where a command line is longer, nothing else matters. */
const start = Buffer.alloc(512);

/** What the last look found, and how many processes this machine had started by then. */
let known = { started: '', found: false };

/**
 * True if a program shares this machine's network under one of our policies, enforced by this process or by another of ours that
 * runs as the same user. Programs inside cannot change the command line of bubblewrap, which stays outside.
 */
export function hasConfinedNeighbours(): boolean {
  const started = startedSoFar();
  // Counted before looking: what starts meanwhile is looked at the next time.
  if (started === '' || started !== known.started)
    known = { started, found: (listPids() ?? []).some(isSandboxWithNetwork) };
  return known.found;
}

function isSandboxWithNetwork(pid: string): boolean {
  const command = startOfCommand(pid);
  const end = command.indexOf('\0');
  return command.startsWith(MARK, end) && basename(command.slice(0, end)) === SANDBOX_PROGRAM;
}

/** Of every process of the machine: a whole file would be read in twice the time. */
function startOfCommand(pid: string): string {
  try {
    const fd = openSync(`/proc/${pid}/cmdline`, 'r');
    try {
      return start.toString('latin1', 0, readSync(fd, start));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** Only ever grows, unlike process ids. Empty if it cannot be told. */
function startedSoFar(): string {
  try {
    return /^processes ([1-9]\d*)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? '';
  } catch {
    return '';
  }
}
