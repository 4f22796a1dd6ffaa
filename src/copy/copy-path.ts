import { basename } from 'node:path/posix';
import type { Environment } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { Budget } from './budget.js';
import { Drafts, metadataOf } from './copy-draft.js';
import {
  BYTES_UNDER_WAY,
  type CopyJob,
  copyFile,
  type Destination,
  type FilePlace,
  withPathInError,
} from './copy-file.js';
import { type Arrival, childPath, copyTree, listing } from './copy-tree.js';
import { type KeptMode, keepModes } from './keep-modes.js';
import { isSamePlace } from './same-place.js';

/** Processes that give files their permissions at a time. */
const CHMODS_AT_A_TIME = 4;

/** A path on a machine that is open. */
export interface OpenPlace extends FilePlace {
  readonly environment: Environment;
  /** Whether files can be renamed there: then each appears only when it is whole, and large ones go in blocks. */
  readonly renames: boolean;
  /** Whether a small file is whole there after one request that is worth saving others for: atomic, and far away. */
  readonly atOnce: boolean;
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
  const [{ isDirectory, isFile, size }, to, mode] = await Promise.all([
    withPathInError(from, from.files.getMetadata(from.path)),
    destination(from, into),
    modeOf(from),
  ]);
  if (!isDirectory) observer.onTotal(size);
  const job = jobFor(to, observer);
  if (from.environment === to.environment) return await copyWithinMachine(from, to, { job, isDirectory });
  if (!isDirectory && !isFile)
    throw new ExecError('invalidFile', 'The source is neither a file nor a directory.');
  if (await isSamePlace(from, to)) {
    throw new ExecError('invalidFile', 'The destination is the source, or lies within it.');
  }
  const files: Arrival[] = [];
  const directories: Arrival[] = [{ path: to.path, mode }];
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
  } else {
    // A server that does not report permissions leaves those of the file that was there.
    const kept = mode ?? (await modeOf(to));
    await copyFile({ ...from, size, mode: kept }, to, job);
    files.push({ path: to.path, mode: kept });
  }
  await keepModes(to.environment, files.filter(hasMode), { atATime: CHMODS_AT_A_TIME });
  // What is within a directory first: afterwards it may be closed to us.
  if (isDirectory) await keepModes(to.environment, directories.toReversed().filter(hasMode));
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
    atOnce: to.atOnce,
    bytes: new Budget(BYTES_UNDER_WAY),
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
async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace & Destination> {
  const [existing, isFree] = await Promise.all([metadataOf(to), to.atOnce && hasNothing(to)]);
  if (!existing?.isDirectory) return { ...to, isFree };
  const name = basename(from.path);
  return { ...to, path: childPath(to.path, { name, path: from.path }) };
}

/** True when there is nothing at a place, not even a link that leads nowhere. */
async function hasNothing({ files, path }: FilePlace): Promise<boolean> {
  return await files.getMetadata(path, { followSymlinks: false }).then(
    () => false,
    (error: unknown) => isExecError(error, 'notFound'),
  );
}
