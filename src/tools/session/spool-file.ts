import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Only for us: output may hold secrets. */
const FILE_MODE = 0o600;

/** The spool files of one owner, in a private directory that appears with the first and goes with the owner. */
export class SpoolDirectory {
  readonly #parent: string;
  #made: Promise<string> | undefined;
  #files = 0;

  constructor(parent = tmpdir()) {
    this.#parent = parent;
  }

  async create(limits: SpoolLimits): Promise<SpoolFile> {
    // mkdtemp makes it readable for nobody else.
    this.#made ??= mkdtemp(join(this.#parent, 'execwire-tools-'));
    this.#files += 1;
    const path = join(await this.#made, `${this.#files}.log`);
    return new SpoolFile(await open(path, 'wx+', FILE_MODE), path, limits);
  }

  async remove(): Promise<void> {
    const made = await this.#made?.catch(() => undefined);
    if (made !== undefined) await rm(made, { recursive: true, force: true });
  }
}

export interface SpoolLimits {
  /** The first bytes are kept for good. */
  readonly headBytes: number;
  /** Of what follows, the last bytes. */
  readonly tailBytes: number;
}

/** Bytes by position: a head that stays, behind it a ring that overwrites its oldest. */
export class SpoolFile {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #limits: SpoolLimits;

  constructor(file: FileHandle, path: string, limits: SpoolLimits) {
    this.#file = file;
    this.#path = path;
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
    await rm(this.#path, { force: true });
  }

  #place(position: number): { offset: number; room: number } {
    const { headBytes, tailBytes } = this.#limits;
    if (position < headBytes) return { offset: position, room: headBytes - position };
    const inRing = (position - headBytes) % tailBytes;
    return { offset: headBytes + inRing, room: tailBytes - inRing };
  }
}
