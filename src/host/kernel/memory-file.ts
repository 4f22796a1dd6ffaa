import { closeSync, openSync, writeSync } from 'node:fs';
import { openMemoryFile, sealMemoryFile } from './sandbox-calls.js';

/** Bytes for one reader: a read-only descriptor positioned at the start. */
export function openBytes(bytes: Uint8Array): number {
  const writer = writeMemoryFile(bytes);
  try {
    return reopen(writer);
  } finally {
    closeSync(writer);
  }
}

/**
 * Bytes for many readers, each starting at the beginning. Kept for the life of the process and sealed against changes.
 */
export class SharedBytes {
  readonly #file: number;

  constructor(bytes: Uint8Array) {
    this.#file = writeMemoryFile(bytes);
    sealMemoryFile(this.#file);
  }

  /** The caller closes the descriptor. */
  open(): number {
    return reopen(this.#file);
  }
}

function writeMemoryFile(bytes: Uint8Array): number {
  const file = openMemoryFile();
  try {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(file, bytes, sent);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** A duplicated descriptor would share the file position; a reopened one has its own. */
function reopen(file: number): number {
  return openSync(`/proc/self/fd/${file}`, 'r');
}
