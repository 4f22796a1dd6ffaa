import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Private: output may contain secrets. */
const FILE_MODE = 0o600;

export interface SpoolLimits {
  /** This many bytes from the start are kept for good. */
  readonly headBytes: number;
  /** Of the rest, this many bytes from the end. */
  readonly tailBytes: number;
}

/** Bytes by position: a fixed head, followed by a ring that overwrites its oldest bytes. */
export class SpoolFile {
  readonly #file: FileHandle;
  readonly #directory: string;
  #limits: SpoolLimits;

  private constructor(file: FileHandle, directory: string, limits: SpoolLimits) {
    this.#file = file;
    this.#directory = directory;
    this.#limits = limits;
  }

  /**
   * Creates a file in a private directory under `parent`. Where the system allows, it is unlinked at once, so that its
   * space is freed even if we crash.
   */
  static async create(parent: string, limits: SpoolLimits): Promise<SpoolFile> {
    const directory = await mkdtemp(join(parent, 'execwire-spool-'));
    try {
      const file = await open(join(directory, 'output'), 'wx+', FILE_MODE);
      return new SpoolFile(file, directory, limits);
    } finally {
      await removeDirectory(directory);
    }
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
    await this.#file.close();
    await removeDirectory(this.#directory);
  }

  #place(position: number): { offset: number; room: number } {
    const { headBytes, tailBytes } = this.#limits;
    if (position < headBytes) return { offset: position, room: headBytes - position };
    const inRing = (position - headBytes) % tailBytes;
    return { offset: headBytes + inRing, room: tailBytes - inRing };
  }
}

/** On systems that cannot unlink open files, this works only after the file is closed. */
async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true }).catch(() => undefined);
}
