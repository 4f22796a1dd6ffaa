import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ExecError } from '../../../protocol/errors.js';
import { shownPath } from '../../kernel/index.js';
import { readCachedBytes } from '../cached/read.js';
import { IO_CHUNK_BYTES } from './limits.js';

/** Without it, opening a FIFO waits for its other end. No effect on regular files. */
const NEVER_WAIT = constants.O_NONBLOCK | constants.O_NOCTTY;

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

interface OpenOptions {
  /** The path to name in errors if `path` goes through a held directory. */
  readonly shownAs?: Buffer;
  readonly followSymlinks?: boolean;
  /** Permissions of a newly created file, before the umask. Default: everyone. */
  readonly mode?: number;
}

/** Opens a regular file for reading. Anything else is rejected without blocking. */
export function openToRead(path: Buffer, options: OpenOptions = {}): Promise<OpenFile> {
  return openChecked(path, constants.O_RDONLY, options, isRegular);
}

/** Opens a regular file for writing, creating it if missing. Its content is not touched yet. */
export function openToWrite(path: Buffer, options: OpenOptions = {}): Promise<OpenFile> {
  return openChecked(path, constants.O_WRONLY | constants.O_CREAT, options, isRegular);
}

/** Like `openToWrite`, for a file that exists. */
export function openToContinue(path: Buffer): Promise<OpenFile> {
  return openChecked(path, constants.O_WRONLY, {}, isRegular);
}

/** Like `openToWrite`, but also accepts `/dev/null` and the like: with NEVER_WAIT they cannot block. */
export function openToOverwrite(path: Buffer, options: OpenOptions = {}): Promise<OpenFile> {
  return openChecked(path, constants.O_WRONLY | constants.O_CREAT, options, isRegularOrCharacter);
}

function isRegular(stats: Stats): boolean {
  return stats.isFile();
}

function isRegularOrCharacter(stats: Stats): boolean {
  return stats.isFile() || stats.isCharacterDevice();
}

async function openChecked(
  path: Buffer,
  access: number,
  options: OpenOptions,
  fits: (stats: Stats) => boolean,
): Promise<OpenFile> {
  const links = options.followSymlinks === false ? constants.O_NOFOLLOW : 0;
  const handle = await open(path, access | NEVER_WAIT | links, options.mode ?? 0o666);
  try {
    const stats = await handle.stat();
    if (!fits(stats)) throw notAFile(options.shownAs ?? path);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function notAFile(path: Buffer): ExecError {
  return new ExecError('invalidFile', `path \`${shownPath(path)}\` is not a file`);
}

/**
 * Fills `target` from `offset` on; returns fewer bytes only at the end of the file. If the size is known, a short read
 * at the end need not be confirmed by another. Only the first chunk may come straight from the page cache, so the event
 * loop is never held up for more than one.
 */
export async function readFully(
  handle: FileHandle,
  target: Buffer,
  { offset, knownSize = Number.POSITIVE_INFINITY }: { offset: number; knownSize?: number },
): Promise<number> {
  let done = 0;
  while (done < target.length) {
    const length = Math.min(IO_CHUNK_BYTES, target.length - done);
    const cached = done === 0 ? readCachedBytes(handle.fd, target.subarray(0, length), offset) : null;
    const bytesRead = cached ?? (await handle.read(target, done, length, offset + done)).bytesRead;
    done += bytesRead;
    if (bytesRead === 0 || (bytesRead < length && offset + done >= knownSize)) break;
  }
  return done;
}

/** Writes all of `bytes` at `offset`. */
export async function writeFully(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const length = Math.min(IO_CHUNK_BYTES, bytes.length - done);
    const { bytesWritten } = await handle.write(bytes, done, length, offset + done);
    done += bytesWritten;
  }
}
