import type { DirectoryEntry } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { fileUri, isFileUri, pathBytes } from '../protocol/file-uri.js';
import { type FilePlace, withPathInError } from './copy-file.js';

/** With sizes, permissions, times and links where the machine tells them; servers of others do not. */
export async function listing(place: FilePlace): Promise<readonly DirectoryEntry[]> {
  const { files, path } = place;
  try {
    return await withPathInError(place, files.readDirectory(path, { details: true }));
  } catch (error) {
    if (!isExecError(error, 'unsupported')) throw error;
    return await withPathInError(place, files.readDirectory(path));
  }
}

/** The entries of a directory by name; names are the same however their paths are written. */
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
 * Refuses a listing with a name that is there twice: what is copied under the second one would go wherever a link leads that
 * has the first.
 */
export function requireDistinct(entries: readonly DirectoryEntry[]): void {
  const names = new Set(entries.map((entry) => nameKey(entry.path)));
  if (names.size < entries.length) throw notAName();
}

/** Whether two names may be one to a machine that takes small and capital letters, or forms of one letter, for the same. */
export function mayMeet(entries: readonly DirectoryEntry[]): boolean {
  const names = new Set<string>();
  for (const { name } of entries) {
    if (!/^[\x20-\x7e]*$/.test(name)) return true;
    names.add(name.toLowerCase());
  }
  return names.size < entries.length;
}

/** The last name of a path in one form, however the path is written. */
function nameKey(path: string): string {
  return fileUri(pathBytes(path)).split('/').at(-1) ?? '';
}

/** Where an entry goes. Its name comes from the other machine and must not lead anywhere else. */
export function childPath(directory: string, entry: Pick<DirectoryEntry, 'name' | 'path'>): string {
  const { name, path } = entry;
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw notAName();
  if (!isFileUri(path) && !isFileUri(directory)) return `${directory.replace(/\/$/, '')}/${name}`;
  // A name that is not UTF-8 only exists as the last part of a URI. The root has none.
  const last = fileUri(path).split('/').at(-1);
  if (!last) throw notAName();
  return `${fileUri(directory).replace(/\/$/, '')}/${last}`;
}

function notAName(): ExecError {
  return new ExecError(
    'protocolViolation',
    'The other side lists a name that is not one; nothing more is copied.',
  );
}
