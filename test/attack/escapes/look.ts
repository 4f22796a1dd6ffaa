import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Everything that can be seen of a place: a change of any kind shows. */
export function look(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return [`${path} missing`];
  const entries = found.isDirectory() ? namesIn(path) : [];
  if (entries === undefined || (found.isDirectory() && isKeptFree(path, entries))) return [`${path} missing`];
  const { mode, uid, gid, nlink, mtimeNs, ctimeNs } = found;
  const line = [path, mode, uid, gid, nlink, mtimeNs, ctimeNs].join(' ');
  if (found.isFile()) return [`${line} ${readFileSync(path, 'latin1')}`];
  return [line, ...entries.flatMap((name) => look(join(path, name)))];
}

/** An empty directory may keep a missing name from being used, for a moment longer than its program runs. */
function isKeptFree(path: string, entries: readonly string[]): boolean {
  return path.endsWith('/.codex') && entries.length === 0;
}

/** Nothing for a directory that went away since it was found, as one that kept a name free does. */
function namesIn(path: string): string[] | undefined {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
