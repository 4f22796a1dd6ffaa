import { type ErrorCode, ExecError } from '../../protocol/errors.js';
import type { LineAccount } from '../line-account.js';
import { LineWindow } from '../line-window.js';
import { IncomingBytes } from './incoming-bytes.js';
import { MAX_PIECE_BYTES, type NumberedBytes, OutgoingBytes } from './outgoing-bytes.js';
import { UntakenRoom } from './untaken-room.js';

/** What each stream may always have in flight per direction, however many streams there are. */
const STREAM_WINDOW_BYTES = 128 * 1024;
/** The most that one stream may have in flight on a long line. */
const MAX_STREAM_WINDOW_BYTES = 8 * 1024 * 1024;
/** The piece that fills a window may exceed it. */
const SHARE_BYTES = STREAM_WINDOW_BYTES + MAX_PIECE_BYTES;
/** How long data may queue on the line before it delays the messages behind it too much. */
const QUEUE_MS = 25;

/** Why a stream ended early. */
export interface StreamFailure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The connection of a stream to its other side. */
export interface StreamLine {
  readonly account: LineAccount;
  send(data: NumberedBytes): void;
  acknowledge(offset: number): void;
  reset(failure: StreamFailure): void;
  /** Calls `pushOne` when it is its turn, until that returns false. */
  schedule(stream: ByteStream): void;
  /** Call when it has nothing more to push. */
  remove(stream: ByteStream): void;
}

/** The local user of a stream, who reads and writes it. */
export interface StreamUser {
  /** Bytes have arrived. Call `taken` once there is room for more. */
  bytes(bytes: Uint8Array): void;
  /** No more will arrive. */
  ended(): void;
  /** There is room again after `write` has returned false. */
  room(): void;
  /** The stream is over, without an error if both directions have ended. */
  over(error?: ExecError): void;
}

/**
 * One end of a byte stream inside a session. Bytes are numbered and acknowledged in both directions, so that it continues where
 * it was when the session gets a new connection. Both sides use it.
 */
export class ByteStream {
  readonly #user: StreamUser;
  readonly #out = new OutgoingBytes();
  readonly #room: UntakenRoom;
  /** How much of the shared room it uses. */
  #held = 0;
  readonly #in = new IncomingBytes(MAX_STREAM_WINDOW_BYTES + MAX_PIECE_BYTES);
  #line: StreamLine | undefined;
  #window: LineWindow | undefined;
  #wasFull = false;
  #over = false;

  /** `room` is shared by the streams of a session. */
  constructor(user: StreamUser, room = new UntakenRoom()) {
    this.#user = user;
    this.#room = room;
  }

  /** The number of the next byte we expect. */
  get received(): number {
    return this.#in.received;
  }

  /** Whether nothing is left to send but the last acknowledgement. */
  get isSaid(): boolean {
    return this.#out.ended && this.#in.done;
  }

  /** Starts using a connection. `received`: how much of our data the other side has. */
  attach(line: StreamLine, received = 0): void {
    if (this.#over) return;
    if (!this.#out.resume(received)) return this.#break('it lost bytes that it had already received');
    this.#line = line;
    this.#window = new LineWindow(STREAM_WINDOW_BYTES, line.account, {
      maxBytes: MAX_STREAM_WINDOW_BYTES,
      queueMs: QUEUE_MS,
    });
    if (this.#in.received > 0) line.acknowledge(this.#in.acknowledge());
    line.schedule(this);
    this.#offerRoom();
  }

  /** Call when the connection is lost. Everything waits for the next one. */
  detach(): void {
    this.#line?.remove(this);
    this.#line = undefined;
    this.#window?.reset();
    this.#window = undefined;
  }

  /**
   * Returns false if enough is in flight; `room` is called when more can follow. The bytes must not change until `release` is
   * called, which does not happen if the stream ends first.
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

  /** Call when the user has room for this many more bytes. */
  taken(count: number): void {
    if (this.#over) return;
    const offset = this.#in.take(count);
    this.#hold();
    if (offset !== null) this.#line?.acknowledge(offset);
    this.#finish();
  }

  /** Ends both directions at once and tells the other side. */
  destroy(failure: StreamFailure): void {
    if (this.#over) return;
    this.#line?.reset(failure);
    this.#end(new ExecError(failure.code, failure.message));
  }

  /** Call when the stream is over on the other side, or the other side is gone. */
  fail(error?: ExecError): void {
    if (!this.#over) this.#end(error);
  }

  receive(data: NumberedBytes): void {
    if (this.#over) return;
    try {
      const { bytes, end } = this.#in.receive(data);
      this.#hold();
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
    if (!this.#out.acknowledge(offset)) return this.#break('it acknowledged bytes that were never sent');
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

  /** How much can be written before it is full; zero or negative if it is. */
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

  #hold(): void {
    this.#held = this.#room.exchange(this.#held, Math.max(0, this.#in.untaken - SHARE_BYTES));
  }

  #break(why: string): void {
    this.destroy({ code: 'protocolViolation', message: why });
  }

  #end(error?: ExecError): void {
    this.#over = true;
    this.#held = this.#room.exchange(this.#held, 0);
    this.detach();
    this.#user.over(error);
  }
}
