import type { FileHandle } from 'node:fs/promises';
import { openNamelessFile } from './nameless-file.js';

export interface SpoolLimits {
  /** This many bytes from the start are kept for good. */
  readonly headBytes: number;
  /** Of the rest, this many bytes from the end. */
  readonly tailBytes: number;
}

/** Bytes by position: a fixed head, followed by a ring that overwrites its oldest bytes. */
export class SpoolFile {
  readonly #file: FileHandle;
  readonly #release: () => Promise<void>;
  #limits: SpoolLimits;

  private constructor(file: FileHandle, release: () => Promise<void>, limits: SpoolLimits) {
    this.#file = file;
    this.#release = release;
    this.#limits = limits;
  }

  /** Creates a file on the file system of `parent`. */
  static async create(parent: string, limits: SpoolLimits): Promise<SpoolFile> {
    const { file, release } = await openNamelessFile(parent);
    return new SpoolFile(file, release, limits);
  }

  /** Sets new limits so that the file stops growing. Only valid before anything was overwritten. */
  limit(limits: SpoolLimits): void {
    this.#limits = limits;
  }

  async write(position: number, bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { offset, room } = this.#place(position + done);
      const length = Math.min(room, bytes.length - done);
      const { bytesWritten } = await this.#file.write(bytes, done, length, offset);
      done += bytesWritten;
    }
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const { offset, room } = this.#place(position);
    const buffer = Buffer.allocUnsafe(Math.min(room, length));
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, offset);
    return buffer.subarray(0, bytesRead);
  }

  async remove(): Promise<void> {
    await this.#release();
  }

  #place(position: number): { offset: number; room: number } {
    const { headBytes, tailBytes } = this.#limits;
    if (position < headBytes) return { offset: position, room: headBytes - position };
    const inRing = (position - headBytes) % tailBytes;
    return { offset: headBytes + inRing, room: tailBytes - inRing };
  }
}
