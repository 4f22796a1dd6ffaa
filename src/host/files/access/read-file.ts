import type { FileHandle } from 'node:fs/promises';
import type { LinkOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { holdParent } from './held-directory.js';
import { nameOf } from '../../kernel/index.js';
import { MAX_READ_FILE_BYTES } from './limits.js';
import { type OpenFile, openToRead, readFully } from './regular-file.js';

/** How much to read beyond the reported size: generated files report 0, and a file may grow meanwhile. */
const GROWTH_BYTES = 64 * 1024;

export async function readFile(path: Buffer, options: LinkOptions): Promise<Buffer> {
  const { handle, stats } = await openForReading(path, options);
  try {
    requireReadable(stats.size);
    return await readToEnd(handle, stats.size);
  } finally {
    await handle.close();
  }
}

/** Opens a regular file according to the options. */
export async function openForReading(path: Buffer, options: LinkOptions): Promise<OpenFile> {
  if (options.followSymlinks !== false) return openToRead(path);
  await using parent = await holdParent(path);
  return await openToRead(parent.at(nameOf(path)), { shownAs: path, followSymlinks: false });
}

/** The whole content of a file of about this size. */
export async function readToEnd(handle: FileHandle, size: number): Promise<Buffer> {
  // One byte more than the size shows that the end was reached, without another read.
  let content = Buffer.allocUnsafeSlow(size === 0 ? GROWTH_BYTES : size + 1);
  let length = await readFully(handle, content, { offset: 0, ...(size > 0 ? { knownSize: size } : {}) });
  while (length === content.length) {
    if (length > MAX_READ_FILE_BYTES) throw tooLarge();
    const larger = Buffer.allocUnsafeSlow(content.length + Math.max(GROWTH_BYTES, content.length >> 1));
    content.copy(larger);
    content = larger;
    length += await readFully(handle, content.subarray(length), { offset: length });
  }
  if (length > MAX_READ_FILE_BYTES) throw tooLarge();
  return content.subarray(0, length);
}

/** Rejects what is too large to be read in one call. */
export function requireReadable(size: number): void {
  if (size > MAX_READ_FILE_BYTES) throw tooLarge();
}

function tooLarge(): ExecError {
  return new ExecError('fileTooLarge', `file is too large to read: limit is ${MAX_READ_FILE_BYTES} bytes`);
}
