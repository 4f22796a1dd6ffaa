import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { z } from 'zod';
import { storedSchema } from '../stored-schema.js';
import { attributesSchema } from './attributes.js';

const journalSchema = storedSchema((z) => {
  const Place = z.object({ root: z.number(), path: z.string() });
  /** What is to be done, with everything it takes: the held files are not looked at again. */
  const Step = z.discriminatedUnion('do', [
    /** Moves what was written beside a path to that path. */
    Place.extend({ do: z.literal('place'), temporary: z.string() }),
    Place.extend({ do: z.literal('attributes'), attributes: attributesSchema() }),
    /** Removes what is at a path, if it is still this. */
    Place.extend({ do: z.literal('delete'), inode: z.string() }),
    /** Sets the times of a directory whose entries have changed, and the mode it must have afterwards. */
    Place.extend({ do: z.literal('settle'), mode: z.number(), atimeNs: z.string(), mtimeNs: z.string() }),
  ]);
  return z.object({
    /** Before `commit`, nothing but temporary files exist: they are removed. After it, everything is done again. */
    phase: z.enum(['stage', 'commit']),
    steps: z.array(Step),
    /** Everything that will have changed, including what is in new directories. */
    changed: z.array(Place),
    /** Directories that were made writable for a while, with their modes. */
    unlocked: z.array(Place.extend({ mode: z.number() })),
  });
});
export type Journal = z.infer<ReturnType<typeof journalSchema>>;
export type Step = Journal['steps'][number];

/** Replaces the journal. On disk when this returns, as a whole or not at all. */
export function writeJournal(file: string, journal: Journal): void {
  const beside = `${file}.new`;
  try {
    writeToDisk(beside, JSON.stringify(journal));
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
  syncDirectory(dirname(file));
}

function writeToDisk(file: string, text: string): void {
  const fd = openSync(file, 'w', 0o600);
  try {
    // With as many calls as it takes: a disk that is getting full takes a part.
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Null if nothing was under way. */
export function readJournal(file: string): Journal | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return journalSchema().parse(JSON.parse(text));
}

export function removeJournal(file: string): void {
  rmSync(file, { force: true });
}

function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
