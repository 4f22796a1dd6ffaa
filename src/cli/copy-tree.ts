import type { DirectoryEntry, FileSystem } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { fileUri, isFileUri } from '../protocol/file-uri.js';
import { copyFile, type FilePlace, type OnBytes } from './copy-file.js';

/** Files copied at a time: small ones cost a round trip each, and those can be shared. */
const FILES_AT_A_TIME = 8;

/** Permission bits that make a file executable; the others are the destination's own affair. */
const EXECUTABLE_BITS = 0o111;

/** What happens during a copy. */
export interface CopyEvents {
  readonly onBytes: OnBytes;
  /** A file has arrived whole. `mode` where the source tells it. */
  readonly onFile: (file: { readonly path: string; readonly executable: boolean }) => void;
  readonly onSkipped: (path: string, why: string) => void;
}

/** Copies a directory with everything below it into one that is made if need be. */
export async function copyTree(from: FilePlace, to: FilePlace, events: CopyEvents): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { entry, path } of filesToCopy(from, to, events)) {
    const copied = copyEntry({ entry, from, to: { files: to.files, path }, events });
    const settled = copied.then(
      () => void running.delete(settled),
      (error: unknown) => {
        failure ??= error;
        running.delete(settled);
      },
    );
    running.add(settled);
    if (running.size >= FILES_AT_A_TIME) await Promise.race(running);
    if (failure) break;
  }
  await Promise.all(running);
  if (failure) throw failure;
}

async function copyEntry(copy: {
  entry: DirectoryEntry;
  from: FilePlace;
  to: FilePlace;
  events: CopyEvents;
}): Promise<void> {
  const { entry, to, events } = copy;
  const { files } = copy.from;
  const size = entry.size ?? (await files.getMetadata(entry.path)).size;
  await copyFile({ files, path: entry.path, size }, to, events.onBytes);
  events.onFile({ path: to.path, executable: ((entry.mode ?? 0) & EXECUTABLE_BITS) !== 0 });
}

/** Walks the source, makes each directory before what is in it, and hands out the files with where they go. */
async function* filesToCopy(
  from: FilePlace,
  to: FilePlace,
  events: CopyEvents,
): AsyncGenerator<{ entry: DirectoryEntry; path: string }> {
  await to.files.createDirectory(to.path);
  for (const entry of await from.files.readDirectory(from.path, { details: true })) {
    const path = childPath(to.path, entry);
    if (entry.isFile) yield { entry, path };
    else if (!entry.isDirectory) events.onSkipped(entry.path, 'it is neither a file nor a directory');
    // A link to a directory may lead back to where we are.
    else if (await isLink(from.files, entry)) events.onSkipped(entry.path, 'it is a link to a directory');
    else yield* filesToCopy({ ...from, path: entry.path }, { ...to, path }, events);
  }
}

async function isLink(files: FileSystem, entry: DirectoryEntry): Promise<boolean> {
  return entry.isSymlink ?? (await files.getMetadata(entry.path)).isSymlink;
}

/** Where an entry goes. Its name comes from the other machine and must not lead anywhere else. */
export function childPath(directory: string, entry: Pick<DirectoryEntry, 'name' | 'path'>): string {
  const { name, path } = entry;
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
    throw new ExecError(
      'protocolViolation',
      'The other side lists a name that is not one; nothing more is copied.',
    );
  }
  if (!isFileUri(path) && !isFileUri(directory)) return `${directory.replace(/\/$/, '')}/${name}`;
  // A name that is not UTF-8 only exists as the last part of a URI.
  const last = fileUri(path).split('/').at(-1) ?? '';
  return `${fileUri(directory).replace(/\/$/, '')}/${last}`;
}
