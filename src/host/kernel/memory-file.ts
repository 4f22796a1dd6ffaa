import { closeSync, openSync, writeSync } from 'node:fs';
import { openMemoryFile, sealMemoryFile } from './sandbox-calls.js';

/** Bytes for one reader: a descriptor at their beginning that cannot be written to. */
export function openBytes(bytes: Uint8Array): number {
  const writer = writeMemoryFile(bytes);
  try {
    return reopen(writer);
  } finally {
    closeSync(writer);
  }
}

/** Bytes that many readers get, each from the beginning. They are kept for good, and nobody can change them. */
export class SharedBytes {
  readonly #file: number;

  constructor(bytes: Uint8Array) {
    this.#file = writeMemoryFile(bytes);
    sealMemoryFile(this.#file);
  }

  /** The caller closes it. */
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

/** A copy of the descriptor would share its position; this one has its own. */
function reopen(file: number): number {
  return openSync(`/proc/self/fd/${file}`, 'r');
}
