import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { storedSchema } from './stored-schema.js';

/** What is known of a set, on disk. */
const setRecord = storedSchema((z) =>
  z.object({
    version: z.literal(1),
    changesId: z.string(),
    /** Who may see it. */
    owner: z.string(),
    /** Whose share of the room for all sets it takes; see `ChangesOwner`. */
    share: z.string().optional(),
    /** `session`: it ends with its session. `kept`: it stays until somebody decides. */
    lease: z.enum(['session', 'kept']),
    createdAtMs: z.number(),
    /** The directories whose changes are held. Their layers are in folders with the numbers of this list. */
    roots: z.array(
      z.object({
        path: z.string(),
        heldSinceNs: z.string(),
        /** The attributes of the directory itself when it was first held; see `ownAttributes`. */
        attributes: z.string(),
      }),
    ),
  }),
);
export type SetRecord = z.infer<ReturnType<typeof setRecord>>;
export type ChangesLease = SetRecord['lease'];

const FILE = 'set.json';

/** Null if there is none, or it was being made when its server was killed. */
export function readRecord(directory: string): SetRecord | null {
  try {
    return setRecord().parse(JSON.parse(readFileSync(join(directory, FILE), 'utf8')));
  } catch {
    return null;
  }
}

export function writeRecord(directory: string, record: SetRecord): void {
  const beside = join(directory, `${FILE}.new`);
  writeFileSync(beside, JSON.stringify(record), { mode: 0o600 });
  renameSync(beside, join(directory, FILE));
}

/** Only we may look into it. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}
