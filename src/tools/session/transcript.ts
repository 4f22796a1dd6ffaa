import { tmpdir } from 'node:os';
import { ExecError } from '../../protocol/index.js';
import { SpoolFile, type SpoolLimits } from './spool-file.js';
import { type SpoolOwner, SpoolQuota } from '../../spool/index.js';

/** Output kept in memory before a spool file is used: most commands never need one. */
const MEMORY_BYTES = 256 * 1024;
/** Bytes per spool file read: large enough to be cheap, small enough not to block the event loop. */
const READ_BYTES = 256 * 1024;
/** Beyond this, small pieces are joined: each has an overhead of its own. */
const MAX_MEMORY_PIECES = 1024;
const MIB = 1024 * 1024;
/** Per session: room for several build logs, yet a runaway program cannot fill the disk. */
export const DEFAULT_SPOOL_LIMITS: SpoolLimits = { headBytes: 64 * MIB, tailBytes: 192 * MIB };

export interface TranscriptOptions {
  readonly spoolLimits?: SpoolLimits;
  /** Where spool files go. Default: the system's temporary directory. */
  readonly spoolParent?: string;
  /** The quota this output shares with others. Default: unlimited. */
  readonly spoolQuota?: SpoolQuota;
  /** See `SpoolOwner`. Default: never expendable. */
  readonly expendableSince?: () => number | null;
}

/** A piece of a transcript, or a gap where bytes were discarded. */
export type TranscriptPiece =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'lost'; readonly lostBytes: number };

/**
 * Everything a process printed, by position: the end in memory, the rest in a spool file. Beyond the limits the middle
 * is discarded, and readers are told how many bytes are missing.
 */
export class Transcript implements SpoolOwner {
  readonly expendableSince: () => number | null;
  readonly #quota: SpoolQuota;
  readonly #spoolParent: string;
  #limits: SpoolLimits;
  #spool: SpoolFile | undefined;
  #memory: Uint8Array[] = [];
  #memoryBytes = 0;
  /** Positions below this are in the spool file, the others in memory. */
  #spooled = 0;
  /** Bytes before `headEnd` and from `tailStart` on are kept. */
  #headEnd = Number.POSITIVE_INFINITY;
  #tailStart = 0;
  #broken = false;
  #removed = false;

  constructor(options: TranscriptOptions = {}) {
    this.#spoolParent = options.spoolParent ?? tmpdir();
    this.#limits = options.spoolLimits ?? DEFAULT_SPOOL_LIMITS;
    this.#quota = options.spoolQuota ?? new SpoolQuota(Number.POSITIVE_INFINITY);
    this.expendableSince = options.expendableSince ?? (() => null);
  }

  /** The position after the last byte. */
  get end(): number {
    return this.#spooled + this.#memoryBytes;
  }

  /** Number of discarded bytes. */
  get lostBytes(): number {
    return Math.max(0, this.#tailStart - this.#headEnd);
  }

  /** One call at a time. Resolves when there is room for more, so that a slow disk slows the program down. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#memory.push(bytes);
    this.#memoryBytes += bytes.length;
    if (this.#memoryBytes >= MEMORY_BYTES) await this.#flush();
    else if (this.#memory.length > MAX_MEMORY_PIECES) this.#memory = [Buffer.concat(this.#memory)];
  }

  /** Reads what is kept between two positions, in order. Excludes what is appended meanwhile. */
  async *read(from: number, to = this.end): AsyncGenerator<TranscriptPiece, void> {
    for (let position = from; position < to; ) {
      if (position >= this.#headEnd && position < this.#tailStart) {
        const next = Math.min(this.#tailStart, to);
        yield { kind: 'lost', lostBytes: next - position };
        position = next;
        continue;
      }
      const bytes = await this.#readSome(position, to - position);
      // The ring may have overwritten this position while we read.
      if (position >= this.#headEnd && position < this.#tailStart) continue;
      if (bytes.length === 0) return;
      yield { kind: 'bytes', bytes };
      position += bytes.length;
    }
  }

  /** The last bytes before a position. */
  async lastBytes(before: number, count: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const piece of this.read(Math.max(0, before - count), before)) {
      if (piece.kind === 'bytes') pieces.push(piece.bytes);
    }
    return Buffer.concat(pieces);
  }

  /** Deletes the spool file. Nothing can be read afterwards. */
  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    // Concurrent readers see the rest as lost.
    this.#spooled = this.end;
    this.#memory = [];
    this.#memoryBytes = 0;
    this.#loseFile();
    this.#quota.release(this);
    await this.#spool?.remove().catch(() => undefined);
  }

  /** Discards everything except the end in memory. */
  dropSpool(): void {
    this.#loseFile();
    this.#spool?.remove().catch(() => undefined);
  }

  async #readSome(position: number, length: number): Promise<Uint8Array> {
    if (position >= this.#spooled) return this.#fromMemory(position, length);
    const inFile =
      Math.min(this.#spooled, this.#headEnd > position ? this.#headEnd : this.#spooled) - position;
    try {
      const bytes = await this.#spool?.read(position, Math.min(length, inFile, READ_BYTES));
      if (bytes !== undefined && bytes.length > 0) return bytes;
    } catch {
      // Treated like a file that is too short.
    }
    // The file is unusable: everything in it is lost.
    this.#loseFile();
    return new Uint8Array(0);
  }

  #fromMemory(position: number, length: number): Uint8Array {
    let start = this.#spooled;
    for (const bytes of this.#memory) {
      if (position < start + bytes.length) return bytes.subarray(position - start, position - start + length);
      start += bytes.length;
    }
    return new Uint8Array(0);
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#memory);
    if (!this.#broken) {
      try {
        this.#reserve(bytes.length);
        this.#makeRoom(this.#spooled + bytes.length);
        this.#spool ??= await SpoolFile.create(this.#spoolParent, this.#limits);
        await this.#spool.write(this.#spooled, bytes);
      } catch {
        this.#broken = true;
        this.#headEnd = Math.min(this.#headEnd, this.#spooled);
      }
    }
    if (this.#removed) {
      await this.#spool?.remove().catch(() => undefined);
      return;
    }
    // Without a working spool, only the end of the output is kept, in memory.
    const kept = this.#broken ? bytes.subarray(-MEMORY_BYTES / 2) : bytes.subarray(bytes.length);
    this.#spooled += bytes.length - kept.length;
    this.#memory = kept.length > 0 ? [Buffer.from(kept)] : [];
    this.#memoryBytes = kept.length;
    if (this.#broken) this.#tailStart = this.#spooled;
  }

  /** Reserves disk space. If there is none left, the file stops growing and becomes the ring. */
  #reserve(bytes: number): void {
    const { headBytes, tailBytes } = this.#limits;
    const most = headBytes + tailBytes;
    const growth = Math.min(this.#spooled + bytes, most) - Math.min(this.#spooled, most);
    if (growth <= 0 || this.#quota.grow(this, growth)) return;
    const head = Math.min(headBytes, Math.floor(this.#spooled / 4));
    this.#limits = { headBytes: head, tailBytes: this.#spooled - head };
    if (bytes > this.#limits.tailBytes)
      throw new ExecError('overloaded', 'No disk space is left for output.');
    this.#spool?.limit(this.#limits);
  }

  /** Discards what the ring is about to overwrite. */
  #makeRoom(newEnd: number): void {
    const { headBytes, tailBytes } = this.#limits;
    if (newEnd <= headBytes + tailBytes) return;
    this.#headEnd = Math.min(this.#headEnd, headBytes);
    this.#tailStart = newEnd - tailBytes;
  }

  #loseFile(): void {
    this.#broken = true;
    this.#headEnd = 0;
    this.#tailStart = this.#spooled;
  }
}
