import { readSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type NamelessFile, openNamelessFile } from '../spool/index.js';
import type { CapturedRoom } from './captured-room.js';

/** Every stream may keep this much in memory, whatever others hold: most commands print less. */
export const ALWAYS_BYTES = 4 * 1024;

/**
 * The captured output of one stream: in memory, or in a file without a name when the connection has captured too much
 * already. A program never waits for its client, so neither its timeout nor other programs depend on who reads.
 */
export class CapturedOutput {
  readonly #room: CapturedRoom;
  #memory = new Uint8Array(0);
  #file: NamelessFile | undefined;
  #length = 0;
  #isReleased = false;

  constructor(room: CapturedRoom) {
    this.#room = room;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns false if there is no room: nothing may be appended after that. */
  append(bytes: Uint8Array): boolean {
    if (this.#isReleased) return false;
    if (!this.#file && !this.#growTo(this.#length + bytes.length) && !this.#moveToDisk()) return false;
    if (this.#file) return this.#write(this.#file, bytes);
    this.#memory.set(bytes, this.#length);
    this.#length += bytes.length;
    return true;
  }

  /** Throws if the file cannot be read. */
  read(): Uint8Array {
    if (!this.#file) return this.#memory.subarray(0, this.#length);
    const bytes = Buffer.allocUnsafe(this.#length);
    for (let done = 0; done < bytes.length; ) {
      const count = readSync(this.#file.descriptor, bytes, done, bytes.length - done, done);
      if (count === 0) throw new Error('The file is shorter than what was written to it.');
      done += count;
    }
    return bytes;
  }

  /** Discards everything. Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#room.drop(this);
    this.#releaseMemory();
    if (!this.#file) return;
    this.#file.release();
    this.#file = undefined;
    this.#room.disk.release(this.#length);
    this.#length = 0;
  }

  /** One growing buffer: a program that writes byte by byte must not cost an object per byte. */
  #growTo(needed: number): boolean {
    const before = this.#memory.length;
    if (needed <= before) return true;
    const size = Math.max(needed, before * 2, ALWAYS_BYTES);
    if (!this.#room.memory.acquire(counted(size) - counted(before))) return false;
    if (before === 0) this.#room.hold(this);
    const larger = new Uint8Array(size);
    larger.set(this.#memory);
    this.#memory = larger;
    return true;
  }

  #moveToDisk(): boolean {
    const file = openFile();
    if (!file) return false;
    const captured = this.#memory.subarray(0, this.#length);
    this.#length = 0;
    if (!this.#write(file, captured)) {
      file.release();
      this.#length = captured.length;
      return false;
    }
    this.#releaseMemory();
    this.#file = file;
    this.#room.hold(this);
    return true;
  }

  #releaseMemory(): void {
    this.#room.memory.release(counted(this.#memory.length));
    this.#memory = new Uint8Array(0);
  }

  #write({ descriptor }: NamelessFile, bytes: Uint8Array): boolean {
    if (!this.#room.disk.acquire(bytes.length)) return false;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(descriptor, bytes, done, bytes.length - done, this.#length + done);
    } catch {
      // The disk is full, for example.
      this.#room.disk.release(bytes.length);
      return false;
    }
    this.#length += bytes.length;
    return true;
  }
}

/** What counts of a buffer of this size. */
function counted(size: number): number {
  return Math.max(0, size - ALWAYS_BYTES);
}

function openFile(): NamelessFile | undefined {
  try {
    return openNamelessFile(tmpdir());
  } catch {
    return undefined;
  }
}
