import type { DirectoryEntry, FileMetadata } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { BlockPool } from './block-pool.js';
import { Drafts } from './copy-draft.js';
import { copyFile } from './copy-file.js';
import { BLOCK_BYTES, type CopyJob } from './copy-job.js';
import { copyLink } from './copy-link.js';
import { type Arrival, copyTree, linkInTheWay } from './copy-tree.js';
import { type Destination, type Original, withPathInError } from './file-place.js';
import { type KeptMode, keepModes } from './keep-modes.js';
import { LineBudget } from './line-budget.js';
import { destination, hasNothing, type OpenPlace } from './open-place.js';
import { Persistence } from './persistence.js';
import { placeNew } from './place-file.js';
import { isSamePlace } from './same-place.js';
import { modeOf, SourceLook } from './source-look.js';

/** `chmod` processes run concurrently. */
const CHMODS_AT_A_TIME = 4;

/** Callbacks for the progress of a copy, and a signal that cancels it. */
export interface CopyObserver {
  readonly signal: AbortSignal;
  /** Called with the total size if it is known beforehand. */
  readonly onTotal: (bytes: number) => void;
  readonly onBytes: (bytes: number) => void;
  readonly onFile: () => void;
  readonly onSkipped: (path: string, why: string) => void;
  /** Called with the reason when an entry of a directory cannot be copied; the rest still is. */
  readonly onFailed: (error: Error) => void;
  /** Called with the path of each copied file and link. */
  readonly onCopied?: (path: string) => void;
  /** Called when a link is followed because one of the machines cannot report or create links. */
  readonly onFollowed: CopyJob['onFollowed'];
}

/** Options of a copy. */
export interface CopyManner {
  /** Whether to copy the targets of links instead of the links. */
  readonly followLinks: boolean;
  /** Whether to leave existing files and links alone. Default: false. */
  readonly keepExisting?: boolean;
}

/** Copies a file, a link or a directory between any two machines, or within one. */
export async function copyPath(
  from: OpenPlace,
  into: OpenPlace,
  observer: CopyObserver & CopyManner,
): Promise<void> {
  const job = jobFor(into, observer);
  const looked = new SourceLook(from, job.bytes);
  try {
    const metadata = await looked.metadata();
    const { isDirectory, isFile, size } = metadata;
    if (!isDirectory) observer.onTotal(size);
    const source = { ...from, ...originalOf(metadata), size };
    // A machine cannot copy a tree within itself if links are followed or existing files are kept.
    const isSelective = job.followLinks || job.keepExisting === true;
    const isApart = from.environment !== into.environment || (isSelective && isDirectory);
    const { link } = metadata;
    if (job.keepExisting && !isDirectory && !(await hasNothing(await destination(from, into)))) return;
    if (!job.followLinks && metadata.isSymlink && isApart) {
      if (link && job.keepsLinksAndTimes) {
        const to = await destination(from, into);
        await copyLink(link, to, job);
        return observer.onCopied?.(to.path);
      }
      job.onFollowed();
    }
    const isSmall = isFile && size <= BLOCK_BYTES;
    // Most files are new, so we try to create the file while looking at the destination. If that fails, we know what is there.
    const isTried = isApart && isSmall && into.placesFiles && into.writesAtomically;
    const [isPlaced, to] = await Promise.all([
      isTried ? placeSmall(source, into, job) : false,
      destination(from, into),
    ]);
    if (isPlaced) return observer.onCopied?.(into.path);
    if (!isApart) {
      const isTree = isDirectory && !(link && !job.followLinks);
      await copyWithinMachine(from, to, { job, isDirectory: isTree });
      return observer.onCopied?.(to.path);
    }
    if (!isDirectory && !isFile)
      throw new ExecError('invalidFile', 'The source is neither a file nor a directory.');
    // A file copied to a free path cannot be its own destination, so we need not compare the two machines.
    const isElsewhere = isFile && to.isFree === true;
    if (!isElsewhere && (await isSamePlace(from, to)))
      throw new ExecError('invalidFile', 'The destination is the source, or lies within it.');
    if (isDirectory && to.isListed && to.existing?.isSymlink) throw linkInTheWay(to);
    if (isDirectory) await copyDirectory({ ...source, listed: looked.listed }, to, { job, observer });
    else {
      await copySingle({ ...source, firstBlocks: looked.firstBlocks }, to, job);
      observer.onCopied?.(to.path);
    }
  } finally {
    await looked.close();
  }
}

/** False when it has to be done with more care; whatever is wrong comes up again then. */
async function placeSmall(
  from: Original & { readonly size: number },
  to: OpenPlace,
  job: CopyJob,
): Promise<boolean> {
  try {
    const content = await from.files.readFile(from.path);
    job.signal.throwIfAborted();
    if (content.length > BLOCK_BYTES || !(await placeNew(to, content, { from, job }))) return false;
    job.onBytes(content.length);
    return true;
  } catch (error) {
    if (!isExecError(error) || isExecError(error, 'connectionClosed')) throw error;
    return false;
  }
}

async function copySingle(
  from: Original & { readonly size: number },
  to: OpenPlace & Destination,
  job: CopyJob,
): Promise<void> {
  if (job.placesFiles) return await copyFile(from, to, job);
  // A server that does not report permissions leaves those of the file that was there.
  const mode = from.mode ?? (await modeOf(to));
  await copyFile({ ...from, mode }, to, job);
  if (mode !== undefined) await keepModes(to.environment, [{ path: to.path, mode }]);
}

async function copyDirectory(
  from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined },
  to: OpenPlace & Destination,
  { job, observer }: { job: CopyJob; observer: CopyObserver },
): Promise<void> {
  const { mode } = from;
  const files: Arrival[] = [];
  const directories: Arrival[] = [{ path: to.path, mode }];
  let copied = 0;
  const tree = {
    ...job,
    onFile: (file: Arrival) => {
      observer.onFile();
      copied += 1;
      if (!job.placesFiles) files.push(file);
    },
    onDirectory: (directory: Arrival) => {
      if (!job.placesFiles) directories.push(directory);
    },
    onSkipped: observer.onSkipped,
    onFailed: observer.onFailed,
    ...(observer.onCopied ? { onCopied: observer.onCopied } : {}),
  };
  await copyTree(from, to, tree).catch((error: unknown) => {
    throw copied > 0 ? withCount(error, copied) : error;
  });
  if (job.placesFiles) return;
  await keepModes(to.environment, files.filter(hasMode), { atATime: CHMODS_AT_A_TIME });
  // What is within a directory first: afterwards it may be closed to us.
  await keepModes(to.environment, directories.toReversed().filter(hasMode));
}

/** Adds how much of a tree was copied to the error. */
function withCount(error: unknown, files: number): unknown {
  if (!isExecError(error)) return error;
  const message = `${error.message.replace(/\.$/, '')}; ${files} ${files === 1 ? 'file is' : 'files are'} copied, the rest is not.`;
  return new ExecError(error.code, message, { data: error.data, cause: error });
}

/** What the copies of single files into a place share. */
export function jobFor(
  to: OpenPlace,
  {
    signal,
    onBytes,
    onFollowed,
    followLinks,
    keepExisting = false,
  }: Pick<CopyObserver, 'signal' | 'onBytes' | 'onFollowed'> & CopyManner,
): CopyJob {
  return {
    drafts: new Drafts({ renames: to.renames, signal }),
    signal,
    // Servers that rename are ours, and those take files in blocks, too.
    writesBlocks: to.renames,
    writesAtomically: to.writesAtomically,
    placesFiles: to.placesFiles,
    keepsLinksAndTimes: to.keepsLinksAndTimes,
    followLinks,
    keepExisting,
    bytes: new LineBudget(),
    blockPool: new BlockPool(BLOCK_BYTES),
    persistence: new Persistence(),
    protect: (path, mode) => keepModes(to.environment, [{ path, mode }]),
    onBytes,
    onFollowed,
  };
}

/** Lets the machine copy. It keeps links, permissions and times. */
async function copyWithinMachine(
  from: OpenPlace,
  to: OpenPlace,
  { job, isDirectory }: { job: CopyJob; isDirectory: boolean },
): Promise<void> {
  const source = job.followLinks ? await from.files.canonicalize(from.path) : from.path;
  const copy = (path: string): Promise<void> =>
    withPathInError(
      to,
      from.files.copy(source, path, { recursive: isDirectory, keepTimes: job.keepsLinksAndTimes }),
    );
  if (isDirectory) await copy(to.path);
  else await job.drafts.write(to, (place) => copy(place.path));
}

function hasMode(arrival: Arrival): arrival is KeptMode {
  return arrival.mode !== undefined;
}

/** The metadata a copy takes from its original. */
function originalOf({
  mode,
  modifiedAtUs,
  modifiedAtMs,
}: FileMetadata): Pick<Original, 'mode' | 'modifiedAtUs'> {
  return { mode, modifiedAtUs: modifiedAtUs ?? modifiedAtMs * 1000 };
}
