import type { DirectoryEntry, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { fileUri, isFileUri } from '../protocol/file-uri.js';
import {
  type CopyJob,
  copyFile,
  type FilePlace,
  isPrivate,
  withPathInError,
  type Original,
} from './copy-file.js';

/** Files copied at a time: small ones cost a few round trips each, and those can be shared. */
const FILES_AT_A_TIME = 16;

/** What arrived at the destination. `mode` where the source tells it. */
export interface Arrival {
  readonly path: string;
  readonly mode: number | undefined;
}

/** A copy of a whole tree, and who is told of it. */
export interface TreeCopyJob extends CopyJob {
  readonly onFile: (file: Arrival) => void;
  readonly onDirectory: (directory: Arrival) => void;
  readonly onSkipped: (path: string, why: string) => void;
}

/** Copies a directory with everything below it into one that is made if need be. */
export async function copyTree(from: Original, to: FilePlace, job: TreeCopyJob): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { entry, path } of filesToCopy(from, to, job)) {
    const copied = copyEntry({ entry, from, to: { ...to, path }, job });
    const settled = copied.then(
      () => void running.delete(settled),
      (error: unknown) => {
        failure ??= error;
        running.delete(settled);
      },
    );
    running.add(settled);
    if (running.size >= FILES_AT_A_TIME) await Promise.race(running);
    if (failure || job.signal.aborted) break;
  }
  await Promise.all(running);
  if (failure) throw failure;
  job.signal.throwIfAborted();
}

async function copyEntry(copy: {
  entry: DirectoryEntry;
  from: FilePlace;
  to: FilePlace;
  job: TreeCopyJob;
}): Promise<void> {
  const { entry, to, job } = copy;
  const from = { ...copy.from, path: entry.path };
  const size = entry.size ?? (await withPathInError(from, from.files.getMetadata(from.path))).size;
  await copyFile({ ...from, size, mode: entry.mode }, to, job);
  job.onFile({ path: to.path, mode: entry.mode });
}

/** Walks the source, makes each directory before what is in it, and hands out the files with where they go. */
async function* filesToCopy(
  from: Original,
  to: FilePlace,
  job: TreeCopyJob,
): AsyncGenerator<{ entry: DirectoryEntry; path: string }> {
  await withPathInError(to, to.files.createDirectory(to.path));
  // With what the owner needs to fill it; what it really had it gets at the end.
  if (isPrivate(from.mode)) await job.protect(to.path, from.mode | 0o700);
  for (const entry of await listing(from)) {
    const path = childPath(to.path, entry);
    if (entry.isFile) yield { entry, path };
    else if (!entry.isDirectory) job.onSkipped(entry.path, 'it is neither a file nor a directory');
    // A link to a directory may lead back to where we are.
    else if (await isLink(from.files, entry)) job.onSkipped(entry.path, 'it is a link to a directory');
    else {
      yield* filesToCopy({ ...from, path: entry.path, mode: entry.mode }, { ...to, path }, job);
      job.onDirectory({ path, mode: entry.mode });
    }
  }
}

/** With sizes and permissions where the machine tells them; servers of others do not. */
export async function listing(place: FilePlace): Promise<readonly DirectoryEntry[]> {
  const { files, path } = place;
  try {
    return await withPathInError(place, files.readDirectory(path, { details: true }));
  } catch (error) {
    if (!isExecError(error, 'unsupported')) throw error;
    return await withPathInError(place, files.readDirectory(path));
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
