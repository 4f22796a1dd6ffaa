import type { DirectoryEntry } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { fileUri, isFileUri, pathBytes } from '../protocol/file-uri.js';
import { type FilePlace, withPathInError } from './file-place.js';

/** Lists a directory, with sizes, permissions, times and links if the machine reports them; other servers do not. */
export async function listing(place: FilePlace): Promise<readonly DirectoryEntry[]> {
  const { files, path } = place;
  try {
    return await withPathInError(place, files.readDirectory(path, { details: true }));
  } catch (error) {
    if (!isExecError(error, 'unsupported')) throw error;
    return await withPathInError(place, files.readDirectory(path));
  }
}

/** The entries of a directory by name, however their paths are written. */
export class Names {
  readonly #entries = new Map<string, DirectoryEntry>();

  constructor(entries: readonly DirectoryEntry[]) {
    for (const entry of entries) this.#entries.set(nameKey(entry.path), entry);
  }

  at(path: string): DirectoryEntry | undefined {
    return this.#entries.get(nameKey(path));
  }
}

/**
 * Refuses a listing that contains a name twice. If the first were a link, the second would be written through it.
 */
export function requireDistinct(entries: readonly DirectoryEntry[]): void {
  const names = new Set(entries.map((entry) => nameKey(entry.path)));
  if (names.size < entries.length) throw notAName();
}

/** Whether two names could be the same on a machine that ignores case or Unicode forms. */
export function mayMeet(entries: readonly DirectoryEntry[]): boolean {
  const names = new Set<string>();
  for (const { name } of entries) {
    if (!/^[\x20-\x7e]*$/.test(name)) return true;
    names.add(name.toLowerCase());
  }
  return names.size < entries.length;
}

/** The last name of a path, normalized. */
function nameKey(path: string): string {
  return fileUri(pathBytes(path)).split('/').at(-1) ?? '';
}

/** The path of an entry in a directory. Its name comes from the other machine and must not lead out of the directory. */
export function childPath(directory: string, entry: Pick<DirectoryEntry, 'name' | 'path'>): string {
  const { name, path } = entry;
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw notAName();
  if (!isFileUri(path) && !isFileUri(directory)) return `${directory.replace(/\/$/, '')}/${name}`;
  // Only a URI can hold a name that is not UTF-8. The root has no name.
  const last = fileUri(path).split('/').at(-1);
  if (!last) throw notAName();
  return `${fileUri(directory).replace(/\/$/, '')}/${last}`;
}

function notAName(): ExecError {
  return new ExecError('protocolViolation', 'The other side listed an invalid name; nothing more is copied.');
}
