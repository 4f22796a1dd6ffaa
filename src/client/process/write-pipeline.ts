import type { WriteStatus } from '../../contract/index.js';
import { type ExecError, isExecError } from '../../protocol/index.js';
import { joinBytes } from '../../protocol/join-bytes.js';
import type { LineWindow } from '../../rpc/index.js';
import { MAX_WRITE_BYTES } from './write-queue.js';

/** Smallest piece, used until the line is known to be fast: other messages must not wait long behind it. */
const MIN_PIECE_BYTES = 64 * 1024;
/** Pieces in a full window, so that answers arrive often enough. */
const PIECES_PER_WINDOW = 16;
/** Up to this many writes in flight, every write is sent immediately; above it, small ones are combined. */
const MAX_SMALL_PIECES = 16;

/** Sends bytes that must follow an earlier write. */
export type SendAfter = (piece: {
  bytes: Uint8Array;
  writeId: string;
  after: string | undefined;
}) => Promise<WriteStatus>;

export interface WritePipelineOptions {
  readonly send: SendAfter;
  /** A new window for the current line. */
  readonly openWindow: () => LineWindow;
  /** Upper limit of bytes in flight, whatever the line can carry. */
  readonly maxBytes: number;
  /** What its write ids begin with. */
  readonly idPrefix: string;
}

/** Something a caller awaits: bytes to be accepted, or a task to run behind them. */
interface Job {
  /** What has not been sent yet. */
  bytes: Uint8Array;
  readonly run: ((after: string | undefined) => Promise<void>) | undefined;
  resolve(status: WriteStatus): void;
  reject(error: unknown): void;
}

/** One message. */
interface Piece {
  readonly bytes: number;
  readonly writeId: string | undefined;
  readonly send: (after: string | undefined) => Promise<WriteStatus>;
  readonly jobs: readonly Job[];
}

/**
 * The input of one process, for servers that accept several writes at a time: as much is in flight as the line can
 * carry. Each write names its predecessor. A server without room refuses a write and all that follow; those are sent
 * again, one by one, once the accepted ones have been answered. This preserves the order and leaves no gaps.
 */
export class WritePipeline {
  readonly #options: WritePipelineOptions;
  readonly #waiting: Job[] = [];
  #waitingBytes = 0;
  readonly #inFlight = new Set<Piece>();
  #inFlightBytes = 0;
  #refused: Piece[] = [];
  #window: LineWindow;
  #nextWriteId = 1;
  #nextSeq = 1;
  #lastSent: string | undefined;
  #lastAccepted: string | undefined;

  constructor(options: WritePipelineOptions) {
    this.#options = options;
    this.#window = options.openWindow();
  }

  /** Resolves when the server has answered for these bytes. */
  write(bytes: Uint8Array): Promise<WriteStatus> {
    // Copied, because the caller may reuse its buffer and the bytes may have to be sent again after a lost connection.
    return this.#add(bytes.slice(), undefined);
  }

  /** Runs a task in order behind the preceding writes. */
  async afterWrites(run: (after: string | undefined) => Promise<void>): Promise<void> {
    await this.#add(new Uint8Array(0), run);
  }

  /** Sends what is waiting, up to what the server must accept, so that whatever is sent next follows it. */
  flush(): void {
    this.#pump({ limit: this.#options.maxBytes, flushing: true });
  }

  /** There is a new connection, so its capacity must be measured again. */
  lineChanged(): void {
    this.#window.reset();
    this.#window = this.#options.openWindow();
  }

  /** Nothing more will be sent: returns its share of the connection's budget. */
  close(): void {
    this.#window.reset();
  }

  /** Sends nothing more and fails what is waiting. False if everything was answered for. */
  abandon(error: ExecError): boolean {
    const unsent = [...this.#refused.flatMap(({ jobs }) => jobs), ...this.#waiting];
    const isUnanswered = unsent.length > 0 || this.#inFlight.size > 0;
    this.#refused = [];
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.close();
    for (const job of unsent) job.reject(error);
    return isUnanswered;
  }

  #add(bytes: Uint8Array, run: Job['run']): Promise<WriteStatus> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, run, resolve, reject });
      this.#waitingBytes += bytes.length;
      this.#pump();
    });
  }

  #pump({ limit = this.#window.bytes, flushing = false } = {}): void {
    for (let piece = this.#next(limit, flushing); piece; piece = this.#next(limit, flushing))
      this.#send(piece);
  }

  #next(limit: number, flushing: boolean): Piece | undefined {
    const idle = this.#inFlight.size === 0;
    if (this.#refused.length > 0) return idle ? this.#refused.shift() : undefined;
    const [first] = this.#waiting;
    if (!first) return undefined;
    if (first.run) return this.#takeRun(first.run);
    const bytes = Math.min(this.#pieceBytes(), this.#waitingBytes);
    const worth = flushing || this.#inFlight.size < MAX_SMALL_PIECES || bytes === this.#pieceBytes();
    return idle || (worth && this.#inFlightBytes + bytes <= limit) ? this.#takePiece() : undefined;
  }

  #pieceBytes(): number {
    return Math.min(Math.max(this.#window.bytes / PIECES_PER_WINDOW, MIN_PIECE_BYTES), MAX_WRITE_BYTES);
  }

  #takeRun(run: NonNullable<Job['run']>): Piece {
    const jobs = this.#waiting.splice(0, 1);
    const send = async (after: string | undefined): Promise<WriteStatus> => {
      await run(after);
      return 'accepted';
    };
    return { bytes: 0, writeId: undefined, send, jobs };
  }

  /** As many writes as fit into one message, or the beginning of a long one. */
  #takePiece(): Piece {
    const room = this.#pieceBytes();
    const jobs: Job[] = [];
    const parts: Uint8Array[] = [];
    let length = 0;
    for (let job = this.#waiting[0]; job && !job.run && (length < room || job.bytes.length === 0); ) {
      const part = job.bytes.subarray(0, room - length);
      job.bytes = job.bytes.subarray(part.length);
      length += part.length;
      parts.push(part);
      jobs.push(job);
      if (job.bytes.length > 0) break;
      this.#waiting.shift();
      job = this.#waiting[0];
    }
    this.#waitingBytes -= length;
    const bytes = joinBytes(parts);
    const writeId = `${this.#options.idPrefix}${this.#nextWriteId}`;
    this.#nextWriteId += 1;
    return { bytes: length, writeId, send: (after) => this.#options.send({ bytes, writeId, after }), jobs };
  }

  #send(piece: Piece): void {
    const alone = this.#inFlight.size === 0;
    // A write whose predecessor was finally refused would never be accepted.
    const after = alone ? this.#lastAccepted : this.#lastSent;
    this.#lastSent = piece.writeId ?? after;
    this.#inFlight.add(piece);
    this.#inFlightBytes += piece.bytes;
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    if (piece.bytes > 0) this.#window.sent({ seq, bytes: piece.bytes, at: performance.now() });
    piece.send(after).then(
      (status) => {
        this.#remove(piece);
        if (piece.bytes > 0) this.#window.acknowledged(seq, performance.now());
        this.#answered(piece, status);
        this.#pump();
      },
      (error: unknown) => {
        this.#remove(piece);
        this.#failed(piece, { error, alone });
        this.#pump();
      },
    );
  }

  #remove(piece: Piece): void {
    this.#inFlight.delete(piece);
    this.#inFlightBytes -= piece.bytes;
  }

  #answered({ jobs, writeId }: Piece, status: WriteStatus): void {
    if (status === 'accepted') this.#lastAccepted = writeId ?? this.#lastAccepted;
    for (const job of jobs) {
      // The rest still has to be sent, unless the process no longer accepts input.
      if (status === 'accepted' && job.bytes.length > 0) continue;
      this.#forget(job);
      job.resolve(status);
    }
  }

  #failed(piece: Piece, { error, alone }: { error: unknown; alone: boolean }): void {
    if (isExecError(error, 'stdinFull') && !alone) {
      this.#refused.push(piece);
      this.#window.reset();
      return;
    }
    for (const job of piece.jobs) {
      this.#forget(job);
      job.reject(error);
    }
  }

  #forget(job: Job): void {
    if (this.#waiting[0] !== job) return;
    this.#waiting.shift();
    this.#waitingBytes -= job.bytes.length;
  }
}
