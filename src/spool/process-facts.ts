import { closeSync, constants, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FILE_MODE } from './private-directory.js';

const FACTS_FILE = 'meta.json';

const Size = z.object({ rows: z.number(), cols: z.number() });

/** How a stored process ended, and where in its log that is. */
const StoredEnd = z.object({
  exitedSeq: z.number(),
  exitCode: z.number(),
  signal: z.templateLiteral(['SIG', z.string()]).nullable(),
  timedOut: z.boolean(),
  sandboxDenied: z.boolean(),
  exitedAtMs: z.number(),
  /** Null while something it left behind may still write. */
  closedSeq: z.number().nullable(),
  closedAtMs: z.number().nullable(),
});

/**
 * What is known about a process besides its output. Of its arguments only the program is kept: they often contain secrets,
 * and these files outlive the process.
 */
const ProcessFacts = z.object({
  version: z.literal(1),
  /** Of the process within the spool. */
  id: z.string(),
  /** What its owner calls it. */
  processId: z.string(),
  owner: z.string(),
  program: z.string(),
  tty: z.boolean(),
  /** The terminal's first size. */
  size: Size.nullable(),
  startedAtMs: z.number(),
  /** Who writes here; see `isRunning`. */
  server: z.object({ pid: z.number(), since: z.string().nullable() }),
  end: StoredEnd.nullable(),
});

export type StoredEnd = z.output<typeof StoredEnd>;
export type ProcessFacts = z.output<typeof ProcessFacts>;

/** Writes the first facts of a process. */
export function createFacts(directory: string, facts: ProcessFacts): void {
  writeNew(join(directory, FACTS_FILE), facts);
}

/** Writes a complete new file, then puts it in the place of the old one. */
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

/** A process that takes care of output. */
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

/** Process ids are reused; together with the time of the start they are unique. Null where the system does not tell. */
function startTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
