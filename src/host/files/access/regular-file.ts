import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ExecError } from '../../../protocol/errors.js';
import { shownPath } from '../../kernel/index.js';
import { readFromMemory } from '../cached/read.js';
import { IO_CHUNK_BYTES } from './limits.js';

/** Without it, opening a FIFO waits for its other end. Regular files do not care. */
const NEVER_WAIT = constants.O_NONBLOCK | constants.O_NOCTTY;

export interface OpenFile {
  readonly handle: FileHandle;
  readonly stats: Stats;
}

interface OpenOptions {
  /** The path to name in errors, where `path` goes through a held directory. */
  readonly shownAs?: Buffer;
  readonly followSymlinks?: boolean;
  /** Permissions of a file that is created, less what the umask takes. Default: for everybody. */
  readonly mode?: number;
}

/** Opens a regular file to read. Anything else is refused without waiting for it. */
export function openToRead(path: Buffer, options: OpenOptions = {}): Promise<OpenFile> {
  return openChecked(path, constants.O_RDONLY, options, isRegular);
}

/** Opens a regular file to write, created if missing, its content untouched so far. */
export function openToWrite(path: Buffer, options: OpenOptions = {}): Promise<OpenFile> {
  return openChecked(path, constants.O_WRONLY | constants.O_CREAT, options, isRegular);
}

/** The same for one that is there. */
export function openToContinue(path: Buffer): Promise<OpenFile> {
  return openChecked(path, constants.O_WRONLY, {}, isRegular);
}

/** As `openToWrite`, but `/dev/null` and its kind may be written to: with NEVER_WAIT they cannot block. */
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
 * Fills `target` from `offset` on; the number of bytes is smaller only at the end of the file. With the size of the file
 * known, a short read at its end need not be confirmed by another. Only the first chunk is taken from memory at once:
 * the event loop is never held up for more than one.
 */
export async function readFully(
  handle: FileHandle,
  target: Buffer,
  { offset, knownSize = Number.POSITIVE_INFINITY }: { offset: number; knownSize?: number },
): Promise<number> {
  let done = 0;
  while (done < target.length) {
    const length = Math.min(IO_CHUNK_BYTES, target.length - done);
    const instant = done === 0 ? readFromMemory(handle.fd, target.subarray(0, length), offset) : null;
    const bytesRead = instant ?? (await handle.read(target, done, length, offset + done)).bytesRead;
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
