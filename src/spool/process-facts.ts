import { closeSync, constants, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type ExitedEvent, exitFacts } from '../contract/index.js';
import { execServerNotifications } from '../protocol/index.js';
import { statOf } from '../host/kernel/procfs.js';
import { FILE_MODE } from './private-directory.js';

const FACTS_FILE = 'meta.json';

const Size = z.object({ rows: z.number(), cols: z.number() });

const { changesFull, networkDenied, usage } = execServerNotifications['process/exited'].params.shape;

/** How a stored process ended, and the position of that in its log. */
const StoredEnd = z.object({
  exitedSeq: z.number(),
  exitCode: z.number(),
  signal: z.templateLiteral(['SIG', z.string()]).nullable(),
  timedOut: z.boolean(),
  sandboxDenied: z.boolean(),
  changesFull,
  networkDenied: networkDenied.readonly(),
  usage,
  exitedAtMs: z.number(),
  /** Null while processes it left behind may still write. */
  closedSeq: z.number().nullable(),
  closedAtMs: z.number().nullable(),
});

/**
 * The facts about a process besides its output. Of its arguments, only the program is kept, because they often contain secrets
 * and these files outlive the process.
 */
const ProcessFacts = z.object({
  version: z.literal(1),
  /** Identifies the process within the spool. */
  id: z.string(),
  /** The id its owner uses. */
  processId: z.string(),
  owner: z.string(),
  program: z.string(),
  tty: z.boolean(),
  /** The initial size of the terminal. */
  size: Size.nullable(),
  startedAtMs: z.number(),
  /** The server that writes here; see `isRunning`. */
  server: z.object({ pid: z.number(), since: z.string().nullable() }),
  end: StoredEnd.nullable(),
});

export type StoredEnd = z.output<typeof StoredEnd>;
export type ProcessFacts = z.output<typeof ProcessFacts>;

/** The `exited` event for a stored end. */
export function exitedEvent(end: StoredEnd): ExitedEvent {
  return { type: 'exited', seq: end.exitedSeq, ...exitFacts(end) };
}

/** Writes the first facts of a process. */
export function createFacts(directory: string, facts: ProcessFacts): void {
  writeNew(join(directory, FACTS_FILE), facts);
}

/** Writes a complete new file, then replaces the old one with it. */
export function writeFacts(directory: string, facts: ProcessFacts): void {
  const draft = join(directory, `${FACTS_FILE}.new`);
  writeNew(draft, facts);
  renameSync(draft, join(directory, FACTS_FILE));
}

function writeNew(path: string, facts: ProcessFacts): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, FILE_MODE);
  try {
    writeFileSync(fd, `${JSON.stringify(facts)}\n`);
  } finally {
    closeSync(fd);
  }
}

/** Null if the file is missing or was not written by us. */
export function readFacts(directory: string): ProcessFacts | null {
  try {
    return ProcessFacts.parse(JSON.parse(readFileSync(join(directory, FACTS_FILE), 'utf8')));
  } catch {
    return null;
  }
}

/** This server. */
export function thisServer(): ProcessFacts['server'] {
  return writerOf(process.pid);
}

/** The record of another process that writes output. */
export function writerOf(pid: number): ProcessFacts['server'] {
  return { pid, since: startTime(pid) };
}

/** Whether the server that wrote the facts may still be writing. */
export function isRunning({ pid, since }: ProcessFacts['server']): boolean {
  if (pid === process.pid) return since === startTime(pid);
  if (since !== null) return startTime(pid) === since;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Process ids are reused, but unique together with the start time. Null if the system does not report it. */
function startTime(pid: number): string | null {
  const stat = statOf(pid);
  return stat && String(stat.startTick);
}
