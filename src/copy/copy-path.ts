import { basename } from 'node:path/posix';
import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { Drafts, metadataOf } from './copy-draft.js';
import { type CopyJob, copyFile, type FilePlace, withPathInError } from './copy-file.js';
import { type Arrival, childPath, copyTree, listing } from './copy-tree.js';
import { type KeptMode, keepModes } from './keep-modes.js';
import { isSamePlace } from './same-place.js';

/** A path on a machine that is open. */
export interface OpenPlace extends FilePlace {
  readonly environment: Environment;
  /** Whether files can be renamed there: then each appears only when it is whole, and large ones go in blocks. */
  readonly renames: boolean;
}

/** Who is told how a copy proceeds, and who may end it. */
export interface CopyObserver {
  readonly signal: AbortSignal;
  /** The size of what is copied, where it is known beforehand. */
  readonly onTotal: (bytes: number) => void;
  readonly onBytes: (bytes: number) => void;
  readonly onFile: () => void;
  readonly onSkipped: (path: string, why: string) => void;
}

/** Copies a file or a directory, whatever machines the two places are on. */
export async function copyPath(from: OpenPlace, into: OpenPlace, observer: CopyObserver): Promise<void> {
  const { isDirectory, isFile, size } = await withPathInError(from, from.files.getMetadata(from.path));
  const to = await destination(from, into);
  if (!isDirectory) observer.onTotal(size);
  const job = jobFor(to, observer);
  if (from.environment === to.environment) return await copyWithinMachine(from, to, { job, isDirectory });
  if (!isDirectory && !isFile)
    throw new ExecError('invalidFile', 'The source is neither a file nor a directory.');
  if (await isSamePlace(from, to)) {
    throw new ExecError('invalidFile', 'The destination is the source, or lies within it.');
  }
  const mode = await modeOf(from);
  const files: Arrival[] = [];
  const directories: Arrival[] = [];
  if (isDirectory) {
    await copyTree({ ...from, mode }, to, {
      ...job,
      onFile: (file) => {
        observer.onFile();
        files.push(file);
      },
      onDirectory: (directory) => directories.push(directory),
      onSkipped: observer.onSkipped,
    });
    directories.push({ path: to.path, mode });
  } else {
    // A server that does not report permissions leaves those of the file that was there.
    const kept = mode ?? (await modeOf(to));
    await copyFile({ ...from, size, mode: kept }, to, job);
    files.push({ path: to.path, mode: kept });
  }
  // What is within a directory first: afterwards it may be closed to us.
  await keepModes(to.environment, [...files, ...directories].filter(hasMode));
}

/** What the copies of single files into a place share. */
export function jobFor(
  to: OpenPlace,
  { signal, onBytes }: Pick<CopyObserver, 'signal' | 'onBytes'>,
): CopyJob {
  return {
    drafts: new Drafts({ renames: to.renames, signal }),
    signal,
    // Servers that rename are ours, and those take files in blocks, too.
    blocks: to.renames,
    protect: (path, mode) => keepModes(to.environment, [{ path, mode }]),
    onBytes,
  };
}

/** Only listings report permissions. Undefined where nothing is, or the machine does not report them. */
export async function modeOf({ files, path }: FilePlace): Promise<number | undefined> {
  const directory = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
  const siblings = await listing({ files, path: directory }).catch(() => []);
  return siblings.find((entry) => entry.path === path)?.mode;
}

/** Nothing has to travel, and links and permissions stay what they are. */
async function copyWithinMachine(
  from: OpenPlace,
  to: OpenPlace,
  { job, isDirectory }: { job: CopyJob; isDirectory: boolean },
): Promise<void> {
  const copy = (path: string): Promise<void> =>
    withPathInError(to, from.files.copy(from.path, path, { recursive: isDirectory }));
  if (isDirectory) await copy(to.path);
  else await job.drafts.write(to, (place) => copy(place.path));
}

function hasMode(arrival: Arrival): arrival is KeptMode {
  return arrival.mode !== undefined;
}

/** An existing directory takes the source in under its own name. */
async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace> {
  if (!(await metadataOf(to))?.isDirectory) return to;
  const name = basename(from.path);
  return { ...to, path: childPath(to.path, { name, path: from.path }) };
}
