import { type ErrorCode, ExecError } from '../../protocol/errors.js';
import type { LineAccount } from '../line-account.js';
import { LineWindow } from '../line-window.js';
import { IncomingBytes } from './incoming-bytes.js';
import { MAX_PIECE_BYTES, type NumberedBytes, OutgoingBytes } from './outgoing-bytes.js';

/** What every stream may have in flight in each direction, however many there are. */
export const STREAM_WINDOW_BYTES = 128 * 1024;
/** The most that one stream may have in flight on a long line. */
export const MAX_STREAM_WINDOW_BYTES = 8 * 1024 * 1024;
/** How long data may wait on the line before messages behind it are late. */
const QUEUE_MS = 25;

/** Why a stream ended before its time. */
export interface StreamFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** How a stream talks to its other side, while there is a connection. */
export interface StreamLine {
  readonly account: LineAccount;
  send(data: NumberedBytes): void;
  acknowledge(offset: number): void;
  reset(failure: StreamFailure): void;
  /** Calls `pushOne` when it is its turn, until that returns false. */
  schedule(stream: ByteStream): void;
  /** It has nothing more to push. */
  remove(stream: ByteStream): void;
}

/** Whoever reads and writes a stream on this side. */
export interface StreamUser {
  /** Bytes have arrived. Call `taken` once there is room for more. */
  bytes(bytes: Uint8Array): void;
  /** No more will arrive. */
  ended(): void;
  /** `write` has returned false, and there is room again. */
  room(): void;
  /** It is over, without an error if both directions had ended. */
  over(error?: ExecError): void;
}

/**
 * One end of a byte stream inside a session: numbered and acknowledged in both directions, so that it goes on where it was when
 * the session has a new connection. The same on both sides.
 */
export class ByteStream {
  readonly #user: StreamUser;
  readonly #out = new OutgoingBytes();
  /** A window is exceeded by the piece that fills it. */
  readonly #in = new IncomingBytes(MAX_STREAM_WINDOW_BYTES + MAX_PIECE_BYTES);
  #line: StreamLine | undefined;
  #window: LineWindow | undefined;
  #wasFull = false;
  #over = false;

  constructor(user: StreamUser) {
    this.#user = user;
  }

  /** The number of the next byte we expect. */
  get received(): number {
    return this.#in.received;
  }

  /** Nothing is left to say, but for the last acknowledgement. */
  get isSaid(): boolean {
    return this.#out.ended && this.#in.done;
  }

  /** Talks from here on. `received`: what the other side has of what we sent. */
  attach(line: StreamLine, received = 0): void {
    if (this.#over) return;
    if (!this.#out.resume(received)) return this.#break('it lost bytes that it had taken');
    this.#line = line;
    this.#window = new LineWindow(STREAM_WINDOW_BYTES, line.account, {
      maxBytes: MAX_STREAM_WINDOW_BYTES,
      queueMs: QUEUE_MS,
    });
    if (this.#in.received > 0) line.acknowledge(this.#in.acknowledge());
    line.schedule(this);
    this.#offerRoom();
  }

  /** There is no connection. Everything waits for the next. */
  detach(): void {
    this.#line?.remove(this);
    this.#line = undefined;
    this.#window?.reset();
    this.#window = undefined;
  }

  /**
   * False if enough is on its way: `room` is called when more can follow. The bytes must not change until `release` is called,
   * which does not happen if the stream ends first.
   */
  write(bytes: Uint8Array, release?: () => void): boolean {
    this.#out.add(bytes, release);
    this.#line?.schedule(this);
    this.#wasFull = this.#isFull;
    return !this.#wasFull;
  }

  /** Nothing more is written. The other direction stays open. */
  end(): void {
    this.#out.finish();
    this.#line?.schedule(this);
  }

  /** The user has room for so many more bytes. */
  taken(count: number): void {
    if (this.#over) return;
    const offset = this.#in.take(count);
    if (offset !== null) this.#line?.acknowledge(offset);
    this.#finish();
  }

  /** Ends both directions at once and tells the other side. */
  destroy(failure: StreamFailure): void {
    if (this.#over) return;
    this.#line?.reset(failure);
    this.#end(new ExecError(failure.code, failure.message));
  }

  /** It is over on the other side, or there is none any more. */
  fail(error?: ExecError): void {
    if (!this.#over) this.#end(error);
  }

  receive(data: NumberedBytes): void {
    if (this.#over) return;
    try {
      const { bytes, end } = this.#in.receive(data);
      if (bytes.length > 0) this.#user.bytes(bytes);
      if (!end) return;
      this.#user.ended();
      this.taken(0);
    } catch (error) {
      this.#break(error instanceof ExecError ? error.message : 'it cannot be understood');
    }
  }

  acknowledged(offset: number): void {
    if (this.#over) return;
    if (!this.#out.acknowledge(offset)) return this.#break('it acknowledged what was never sent');
    this.#window?.acknowledged(offset, performance.now());
    this.#line?.schedule(this);
    this.#offerRoom();
    this.#finish();
  }

  /** Sends one message. False if there is nothing more to send for now. */
  pushOne(): boolean {
    if (!this.#line || !this.#window || this.#out.inFlight >= this.#window.bytes) return false;
    const data = this.#out.next();
    if (data === null) return false;
    const { offset, bytes } = data;
    if (bytes.length > 0)
      this.#window.sent({ seq: offset + bytes.length, bytes: bytes.length, at: performance.now() });
    this.#line.send(data);
    return true;
  }

  /** How much can be written before it is full; not positive if it is. */
  get room(): number {
    return (this.#window?.bytes ?? STREAM_WINDOW_BYTES) - this.#out.unacknowledged;
  }

  get #isFull(): boolean {
    return this.room <= 0;
  }

  #offerRoom(): void {
    if (!this.#wasFull || this.#isFull || this.#over) return;
    this.#wasFull = false;
    this.#user.room();
  }

  #finish(): void {
    if (this.#out.done && this.#in.done && !this.#over) this.#end();
  }

  #break(why: string): void {
    this.destroy({ code: 'protocolViolation', message: why });
  }

  #end(error?: ExecError): void {
    this.#over = true;
    this.detach();
    this.#user.over(error);
  }
}
