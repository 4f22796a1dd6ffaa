import type { DirectoryEntry, FileMetadata } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { BlockPool } from './block-pool.js';
import { Drafts } from './copy-draft.js';
import {
  BLOCK_BYTES,
  type CopyJob,
  copyFile,
  type Destination,
  type Original,
  withPathInError,
} from './copy-file.js';
import { copyLink } from './copy-link.js';
import { type Arrival, copyTree, linkInTheWay } from './copy-tree.js';
import { type KeptMode, keepModes } from './keep-modes.js';
import { LineBudget } from './line-budget.js';
import { destination, hasNothing, type OpenPlace } from './open-place.js';
import { Persistence } from './persistence.js';
import { placeNew } from './place-file.js';
import { isSamePlace } from './same-place.js';
import { modeOf, SourceLook } from './source-look.js';

/** Processes that give files their permissions at a time. */
const CHMODS_AT_A_TIME = 4;

/** Who is told how a copy proceeds, and who may end it. */
export interface CopyObserver {
  readonly signal: AbortSignal;
  /** The size of what is copied, where it is known beforehand. */
  readonly onTotal: (bytes: number) => void;
  readonly onBytes: (bytes: number) => void;
  readonly onFile: () => void;
  readonly onSkipped: (path: string, why: string) => void;
  /** Told why something in a directory could not be copied; the rest still is. */
  readonly onFailed: (error: Error) => void;
  /** Told where each file and link has arrived. */
  readonly onCopied?: (path: string) => void;
  /** Told of whatever could not be kept, because one of the machines has no way to tell or to take it. */
  readonly onFollowed: CopyJob['onFollowed'];
}

/** How something is copied. */
export interface CopyManner {
  /** Whether what links lead to is copied instead of the links. */
  readonly followLinks: boolean;
  /** Whether files and links that are there already are left alone. Default false. */
  readonly keepExisting?: boolean;
}

/** Copies a file, a link or a directory, whatever machines the two places are on. */
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
    // What links within a directory lead to has to be copied one by one.
    const isSelective = job.followLinks || job.keepExisting === true;
    const isApart = from.environment !== into.environment || (isSelective && isDirectory);
    const { link } = metadata;
    if (job.keepExisting && !isDirectory && !(await hasNothing(await destination(from, into)))) return;
    if (!job.followLinks && metadata.isSymlink && isApart) {
      if (link && job.keeps) {
        const to = await destination(from, into);
        await copyLink(link, to, job);
        return observer.onCopied?.(to.path);
      }
      job.onFollowed();
    }
    const isSmall = isFile && size <= BLOCK_BYTES;
    // Most files are new. Should something be there, it is known what once this has failed.
    const isTried = isApart && isSmall && into.places && into.atOnce;
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
    // A file is not where nothing is, and nothing lies within it: only then need nobody find out whether the machines are one.
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
  if (job.places) return await copyFile(from, to, job);
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
      if (!job.places) files.push(file);
    },
    onDirectory: (directory: Arrival) => {
      if (!job.places) directories.push(directory);
    },
    onSkipped: observer.onSkipped,
    onFailed: observer.onFailed,
    ...(observer.onCopied ? { onCopied: observer.onCopied } : {}),
  };
  await copyTree(from, to, tree).catch((error: unknown) => {
    throw copied > 0 ? withCount(error, copied) : error;
  });
  if (job.places) return;
  await keepModes(to.environment, files.filter(hasMode), { atATime: CHMODS_AT_A_TIME });
  // What is within a directory first: afterwards it may be closed to us.
  await keepModes(to.environment, directories.toReversed().filter(hasMode));
}

/** Whoever copies a tree wants to know how much of it is there. */
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
    blocks: to.renames,
    atOnce: to.atOnce,
    places: to.places,
    keeps: to.keeps,
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

/** Nothing has to travel, and links, permissions and times stay what they are. */
async function copyWithinMachine(
  from: OpenPlace,
  to: OpenPlace,
  { job, isDirectory }: { job: CopyJob; isDirectory: boolean },
): Promise<void> {
  const source = job.followLinks ? await from.files.canonicalize(from.path) : from.path;
  const copy = (path: string): Promise<void> =>
    withPathInError(to, from.files.copy(source, path, { recursive: isDirectory, keepTimes: job.keeps }));
  if (isDirectory) await copy(to.path);
  else await job.drafts.write(to, (place) => copy(place.path));
}

function hasMode(arrival: Arrival): arrival is KeptMode {
  return arrival.mode !== undefined;
}

/** What a copy takes over from its original. */
function originalOf({
  mode,
  modifiedAtUs,
  modifiedAtMs,
}: FileMetadata): Pick<Original, 'mode' | 'modifiedAtUs'> {
  return { mode, modifiedAtUs: modifiedAtUs ?? modifiedAtMs * 1000 };
}
