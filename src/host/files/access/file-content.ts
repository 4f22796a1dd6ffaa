import type { FileHandle } from 'node:fs/promises';
import type { LinkOptions } from '../../../contract/index.js';
import { isLocalPlace } from '../cached/local-devices.js';
import { descriptorPath } from '../cached/place.js';
import { asExecError } from './os-error.js';
import { openForReading, readToEnd, requireReadable } from './read-file.js';
import { readFully } from './regular-file.js';

/** Smaller files are read in one go: a file read in pieces stays open until its reader has them all. */
const PIECEWISE_FROM_BYTES = 1024 * 1024;

/** A file that is read piece by piece, from its start to where it ended when it was opened. */
export interface PiecewiseContent {
  /** Fills `target` with the next bytes; fewer only at the end, none after it. */
  read(target: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** The content of a file: all of it if small, otherwise read on demand. */
export type FileContent = Uint8Array | PiecewiseContent;

export async function openContent(path: Buffer, options: LinkOptions): Promise<FileContent> {
  const { handle, stats } = await openForReading(path, options);
  let keep = false;
  try {
    requireReadable(stats.size);
    if (!(await canReadPiecewise(handle, stats.size))) return await readToEnd(handle, stats.size);
    keep = true;
    return new OpenContent(handle, stats.size);
  } finally {
    if (!keep) await handle.close();
  }
}

/**
 * True if a file may be read while its message is being sent. A slow file would hold up all messages behind it, so
 * anything not on a local disk is read completely beforehand.
 */
async function canReadPiecewise(handle: FileHandle, size: number): Promise<boolean> {
  return size >= PIECEWISE_FROM_BYTES && (await isLocalPlace(descriptorPath(handle.fd)));
}

class OpenContent implements PiecewiseContent {
  readonly #handle: FileHandle;
  readonly #size: number;
  #offset = 0;

  constructor(handle: FileHandle, size: number) {
    this.#handle = handle;
    this.#size = size;
  }

  async read(target: Uint8Array): Promise<number> {
    const piece = Buffer.from(
      target.buffer,
      target.byteOffset,
      Math.min(target.length, this.#size - this.#offset),
    );
    try {
      const count = await readFully(this.#handle, piece, { offset: this.#offset, knownSize: this.#size });
      this.#offset += count;
      return count;
    } catch (error) {
      throw asExecError(error);
    }
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
