import type { Socket } from 'node:net';
import { fillBuffer, type ReadState, take } from './kernel-read.js';

/** Events a reader reports to its child. */
export interface ReaderEvents {
  bytes(bytes: Uint8Array): void;
  /** Once: no more bytes will come. */
  ended(): void;
}

/** One output stream of a child. */
export interface OutputSource {
  readonly ended: boolean;
  pause(): void;
  resume(): void;
  /** The direct child has been reaped: reads what it left, unless paused. Bounded even if others keep writing. */
  leaderExited(): void;
  /** Reads what is there and ends, whoever still holds the other end. */
  abandon(): void;
}

/** One output stream of a child: read through libuv while it lives, and directly where libuv would lose bytes. */
export abstract class OutputReader implements OutputSource {
  readonly #events: ReaderEvents;
  #stream: Socket | undefined;
  #paused = false;
  #ended = false;
  /** The descriptor for direct reads. */
  protected abstract readonly fd: number;

  constructor(events: ReaderEvents) {
    this.#events = events;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Subclasses pass their stream once it is set up. */
  protected attach(stream: Socket): void {
    this.#stream = stream;
    const over = (): void => this.streamOver();
    stream.on('end', over).on('error', over).on('close', over);
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#stream?.resume();
  }

  /** The direct child has been reaped: reads what it left, unless paused. Bounded even if others keep writing. */
  abstract leaderExited(): void;

  /** Reads what is there and ends, whoever still holds the other end. */
  abandon(): void {
    if (this.#ended) return;
    this.#paused = false;
    this.drain(this.kernelBytes());
    this.finish();
  }

  /** libuv saw the end of the stream. */
  protected abstract streamOver(): void;
  /** The most bytes the kernel can hold. */
  protected abstract kernelBytes(): number;
  /** Closes whatever the stream does not close. */
  protected release(): void {}

  protected emit(count: number): void {
    if (count > 0) this.hand(take(count));
  }

  /** Delivers bytes that will not be overwritten. */
  protected hand(bytes: Uint8Array): void {
    this.#events.bytes(bytes);
  }

  /** Reads directly until nothing is left, more than `limit` bytes arrived (`full`), or the sink pauses (`full`). */
  protected drain(limit: number): ReadState {
    let total = 0;
    while (!this.#ended && !this.#paused) {
      const { filled, state } = fillBuffer(this.fd, 0);
      this.emit(filled);
      total += filled;
      if (state !== 'full') return state;
      if (total > limit) return state;
    }
    return 'full';
  }

  protected finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream?.destroy();
    this.release();
    this.#events.ended();
  }
}
