import type { WriteStatus } from '../../contract/index.js';
import { isExecError } from '../../protocol/index.js';
import type { LineWindow } from '../../rpc/index.js';
import { joined, MAX_WRITE_BYTES } from './write-queue.js';

/** Pieces are this small until the line is known to be fast: others must not wait long for one to pass. */
const LEAST_PIECE_BYTES = 64 * 1024;
/** A window that is full holds this many pieces, so that answers come often enough. */
const PIECES_PER_WINDOW = 16;
/** Up to here every write leaves at once; with more unanswered, small ones are sent together. */
const MAX_SMALL_PIECES = 16;

/** Sends bytes as input behind those of an earlier write. */
export type SendBehind = (piece: {
  bytes: Uint8Array;
  writeId: string;
  after: string | undefined;
}) => Promise<WriteStatus>;

export interface WritePipelineOptions {
  readonly send: SendBehind;
  /** For the line as it is now. */
  readonly openWindow: () => LineWindow;
  /** What may be on its way at most, whatever the line holds. */
  readonly maxBytes: number;
}

/** Something a caller waits for: bytes to be taken, or a task behind them to be done. */
interface Job {
  /** What was not sent yet. */
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
 * The input of one process, for servers that take several writes at a time: as much is on its way as the line holds. Each names the
 * one before it. A server without room refuses one and with it all that follow; those are sent again, one by one, once what was
 * taken has been answered. So the order holds, and nothing is left out in between.
 */
export class WritePipeline {
  readonly #options: WritePipelineOptions;
  readonly #waiting: Job[] = [];
  #waitingBytes = 0;
  readonly #underWay = new Set<Piece>();
  #underWayBytes = 0;
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
    // The caller may use its buffer again, and a lost connection lets us send the bytes once more.
    return this.#add(bytes.slice(), undefined);
  }

  /** Runs something that takes its place behind the writes before it. */
  async behind(run: (after: string | undefined) => Promise<void>): Promise<void> {
    await this.#add(new Uint8Array(0), run);
  }

  /** Sends what waits, as far as the server is bound to take it, so that what is sent next comes behind it. */
  flush(): void {
    this.#pump({ limit: this.#options.maxBytes, hurried: true });
  }

  /** The connection is another one: what its line holds is to be found out anew. */
  lineChanged(): void {
    this.#window.reset();
    this.#window = this.#options.openWindow();
  }

  /** Nothing more is sent: gives back its share of the connection. */
  close(): void {
    this.#window.reset();
  }

  #add(bytes: Uint8Array, run: Job['run']): Promise<WriteStatus> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes, run, resolve, reject });
      this.#waitingBytes += bytes.length;
      this.#pump();
    });
  }

  #pump({ limit = this.#window.bytes, hurried = false } = {}): void {
    for (let piece = this.#next(limit, hurried); piece; piece = this.#next(limit, hurried)) this.#post(piece);
  }

  #next(limit: number, hurried: boolean): Piece | undefined {
    const idle = this.#underWay.size === 0;
    if (this.#refused.length > 0) return idle ? this.#refused.shift() : undefined;
    const [first] = this.#waiting;
    if (!first) return undefined;
    if (first.run) return this.#takeRun(first.run);
    const bytes = Math.min(this.#pieceBytes(), this.#waitingBytes);
    const worth = hurried || this.#underWay.size < MAX_SMALL_PIECES || bytes === this.#pieceBytes();
    return idle || (worth && this.#underWayBytes + bytes <= limit) ? this.#takePiece() : undefined;
  }

  #pieceBytes(): number {
    return Math.min(Math.max(this.#window.bytes / PIECES_PER_WINDOW, LEAST_PIECE_BYTES), MAX_WRITE_BYTES);
  }

  #takeRun(run: NonNullable<Job['run']>): Piece {
    const jobs = this.#waiting.splice(0, 1);
    const send = async (after: string | undefined): Promise<WriteStatus> => {
      await run(after);
      return 'accepted';
    };
    return { bytes: 0, writeId: undefined, send, jobs };
  }

  /** Writes that fit into one message together, or the beginning of a long one. */
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
    const bytes = joined(parts);
    const writeId = String(this.#nextWriteId);
    this.#nextWriteId += 1;
    return { bytes: length, writeId, send: (after) => this.#options.send({ bytes, writeId, after }), jobs };
  }

  #post(piece: Piece): void {
    const alone = this.#underWay.size === 0;
    // Behind one that was refused for good nothing would ever be taken.
    const after = alone ? this.#lastAccepted : this.#lastSent;
    this.#lastSent = piece.writeId ?? after;
    this.#underWay.add(piece);
    this.#underWayBytes += piece.bytes;
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
    this.#underWay.delete(piece);
    this.#underWayBytes -= piece.bytes;
  }

  #answered({ jobs, writeId }: Piece, status: WriteStatus): void {
    if (status === 'accepted') this.#lastAccepted = writeId ?? this.#lastAccepted;
    for (const job of jobs) {
      // The rest of it is still to be sent, unless there is no use in it.
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
