import { tmpdir } from 'node:os';
import { MAX_WRITE_BYTES, type SpoolOwner, SpoolQuota, TemporaryOutput } from '../../spool/index.js';

/** Output kept in memory before any is written to disk: most commands never get there. */
const MEMORY_BYTES = 256 * 1024;
/** Longer pieces are cut, so that what is in memory can be written at once. */
const PIECE_BYTES = MAX_WRITE_BYTES - MEMORY_BYTES;
/** Bytes per read: large enough to be cheap, small enough not to block the event loop. */
const READ_BYTES = 256 * 1024;
/** Beyond this, small pieces are joined: each has an overhead of its own. */
const MAX_MEMORY_PIECES = 1024;
const MIB = 1024 * 1024;
/** Per session: room for several build logs, yet a runaway program cannot fill the disk. */
const DEFAULT_SPOOL_LIMITS: SpoolLimits = { headBytes: 64 * MIB, tailBytes: 192 * MIB };

export interface SpoolLimits {
  /** This many bytes from the start are kept for good. */
  readonly headBytes: number;
  /** Of the rest, this many bytes from the end. */
  readonly tailBytes: number;
}

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

/** Output at a position, or the first behind it. */
interface Found {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/**
 * Everything a process printed, by position: the end in memory, the rest on disk. Beyond the limits the middle is discarded, and
 * readers learn how many bytes are missing.
 */
export class Transcript implements SpoolOwner {
  readonly expendableSince: () => number | null;
  readonly #quota: SpoolQuota;
  readonly #disk: TemporaryOutput;
  #memory: Uint8Array[] = [];
  #memoryBytes = 0;
  /** Positions below this are on disk, if anywhere, the others in memory. */
  #spooled = 0;
  /** Nothing more can be written. */
  #broken = false;

  constructor(options: TranscriptOptions = {}) {
    this.#quota = options.spoolQuota ?? new SpoolQuota(Number.POSITIVE_INFINITY);
    this.expendableSince = options.expendableSince ?? (() => null);
    const limits = options.spoolLimits ?? DEFAULT_SPOOL_LIMITS;
    const parent = options.spoolParent ?? tmpdir();
    this.#disk = new TemporaryOutput({ parent, owner: this, quota: this.#quota, ...limits });
  }

  /** The position after the last byte. */
  get end(): number {
    return this.#spooled + this.#memoryBytes;
  }

  /** Number of discarded bytes. */
  get lostBytes(): number {
    return this.#spooled - this.#disk.keptBytes;
  }

  /** One call at a time. Resolves when there is room for more, so that a slow disk slows the program down. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.length <= PIECE_BYTES ? bytes : bytes.subarray(at, at + PIECE_BYTES);
      this.#memory.push(piece);
      this.#memoryBytes += piece.length;
      if (this.#memoryBytes >= MEMORY_BYTES) await this.#flush();
      else if (this.#memory.length > MAX_MEMORY_PIECES) this.#memory = [Buffer.concat(this.#memory)];
    }
  }

  /** Reads what is kept between two positions, in order. Excludes what is appended meanwhile. */
  async *read(from: number, to = this.end): AsyncGenerator<TranscriptPiece, void> {
    for (let position = from; position < to; ) {
      const found = await this.#find(position, to);
      const start = Math.min(found.offset, to);
      if (start > position) {
        yield { kind: 'lost', lostBytes: start - position };
        position = start;
        continue;
      }
      if (found.bytes.length === 0) return;
      yield { kind: 'bytes', bytes: found.bytes };
      position += found.bytes.length;
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

  /** Deletes everything. Nothing can be read afterwards: concurrent readers see the rest as lost. */
  async remove(): Promise<void> {
    this.#spooled = this.end;
    this.#memory = [];
    this.#memoryBytes = 0;
    this.#quota.release(this);
    this.dropSpool();
  }

  /** Discards everything except the end in memory. */
  dropSpool(): void {
    this.#broken = true;
    this.#disk.release();
  }

  async #find(position: number, to: number): Promise<Found> {
    const spooled = this.#spooled;
    if (position >= spooled) return this.#fromMemory(position, to);
    try {
      const found = await this.#disk.bytesAt(position, Math.min(to - position, READ_BYTES));
      if (found) return found;
    } catch {
      // The file is unusable: everything in it is lost.
      this.dropSpool();
    }
    // What was in memory then may be on disk by now.
    return { offset: spooled, bytes: NOTHING };
  }

  #fromMemory(position: number, to: number): Found {
    let start = this.#spooled;
    for (const bytes of this.#memory) {
      if (position < start + bytes.length)
        return { offset: position, bytes: bytes.subarray(position - start, to - start) };
      start += bytes.length;
    }
    return { offset: position, bytes: NOTHING };
  }

  async #flush(): Promise<void> {
    try {
      if (!this.#broken) await this.#disk.write(this.#memory);
    } catch {
      this.#broken = true;
    }
    // Without a working disk, only the end of the output is kept, in memory.
    const kept = this.#broken ? Buffer.concat(this.#memory).subarray(-MEMORY_BYTES / 2) : NOTHING;
    this.#spooled += this.#memoryBytes - kept.length;
    this.#memory = kept.length > 0 ? [Buffer.from(kept)] : [];
    this.#memoryBytes = kept.length;
  }
}
