import { readSync } from 'node:fs';
import type { OutputPlace, OutputStream } from '../../contract/index.js';
import { libc, linux, unwatchReadiness, watchReadiness } from '../kernel/index.js';
import { acquireMemory, CHUNK_BYTES } from './chunk-memory.js';
import { doNotBlock, waitingBytes } from './descriptors.js';
import { fillBuffer, type ReadState, take } from './kernel-read.js';
import type { OutputSource, ReaderEvents } from './output-reader.js';

/** Chunks taken before others get their turn. */
const MAX_CHUNKS = 8;
/** Most that is read to see whether anything is left, even if others keep writing. */
const LAST_BYTES = 1024 * 1024;
/** A flooding program prints more than this between two turns. */
const WORTH_TAKING_BYTES = CHUNK_BYTES / 2;

/** Moves what can be read now into a file: its number of bytes, or why there is none. */
export type Moved = number | 'empty' | 'end' | 'failed';

/**
 * Takes output out of a pipe by having the kernel move it into a file, and reads it there. So a byte is either still in
 * the pipe or already in the file, at whatever moment we are killed.
 */
export class SplicedReader implements OutputSource {
  readonly #stream: OutputStream;
  readonly #place: OutputPlace;
  readonly #events: ReaderEvents;
  protected readonly fd: number;
  #paused = false;
  #ended = false;
  #isWatched = false;
  /** The file cannot be written: output is only in memory from here on. */
  #readsDirectly = false;

  /** Owns the descriptor. */
  constructor(stream: OutputStream, fd: number, options: { place: OutputPlace; events: ReaderEvents }) {
    this.#stream = stream;
    this.fd = fd;
    this.#place = options.place;
    this.#events = options.events;
  }

  /** Starts reading in the next turn of the event loop. */
  start(): this {
    this.#watch();
    return this;
  }

  get ended(): boolean {
    return this.#ended;
  }

  protected get paused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
    this.#unwatch();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (!this.#ended) this.#watch();
  }

  leaderExited(): void {
    if (!this.#ended && this.drain() === 'end') this.finish();
  }

  abandon(): void {
    if (this.#ended) return;
    this.#paused = false;
    this.drain();
    this.finish();
  }

  protected drain(): ReadState {
    let total = 0;
    while (!this.#ended && !this.#paused) {
      const moved = this.#take();
      if (typeof moved !== 'number') return moved;
      total += moved;
      if (total > LAST_BYTES) return 'full';
    }
    return 'full';
  }

  protected finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#unwatch();
    this.release();
    this.#events.ended();
  }

  /** Closes what it owns. */
  protected release(): void {
    libc().close(this.fd);
  }

  /** Called when there is something to read, or the end has come. */
  protected ready(): void {
    for (let count = 0; count < MAX_CHUNKS && !this.#paused && !this.#ended; count += 1) {
      const moved = this.#take();
      if (moved === 'end') this.finish();
      if (typeof moved !== 'number' || !this.isWorthAnother(moved)) return;
    }
  }

  /** Whether to take another chunk in the same turn, after one of this size. Little is left for the next turn, to become more. */
  protected isWorthAnother(moved: number): boolean {
    return moved >= WORTH_TAKING_BYTES && waitingBytes(this.fd) >= WORTH_TAKING_BYTES;
  }

  /** Whether there is something to move. Most programs print nothing more, and some nothing at all. */
  protected look(): 'ready' | 'empty' | 'end' {
    return this.#place.begun ? 'ready' : pipeState(this.fd);
  }

  /** Up to a boundary of the file, so that the page cache has few large pieces: others take a third longer to write. */
  protected move(target: number, position: BigInt64Array): Moved {
    const behindBoundary = Number(position[0]) % CHUNK_BYTES;
    return moveInto(this.fd, target, { position, maxBytes: CHUNK_BYTES - behindBoundary });
  }

  /** From here on, `readDirectly` is used. */
  protected prepareToRead(): void {
    doNotBlock(this.fd, 'read');
  }

  protected readDirectly(): { filled: number; state: ReadState } {
    return fillBuffer(this.fd, 0);
  }

  /** One chunk. */
  #take(): number | 'empty' | 'end' {
    const state = this.#readsDirectly ? 'ready' : this.look();
    if (state !== 'ready') return state;
    const target = this.#readsDirectly ? null : this.#place.next(this.#stream);
    if (target) {
      position[0] = BigInt(target.position);
      const moved = this.move(target.fd, position);
      if (typeof moved === 'number') return this.#hand(target, moved);
      if (moved !== 'failed') return moved;
      this.#place.failed(libc().errno());
    }
    if (!this.#readsDirectly) this.prepareToRead();
    this.#readsDirectly = true;
    const { filled, state: after } = this.readDirectly();
    if (filled > 0) this.#events.bytes(take(filled));
    if (filled > 0) return filled;
    return after === 'end' ? 'end' : 'empty';
  }

  #hand({ fd, position: at }: { fd: number; position: number }, length: number): number {
    const bytes = acquireMemory(length);
    for (let done = 0; done < length; ) done += readSync(fd, bytes, done, length - done, at + done);
    this.#events.bytes(bytes);
    return length;
  }

  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    watchReadiness(this.fd, 'read', () => this.ready());
  }

  #unwatch(): void {
    if (!this.#isWatched) return;
    this.#isWatched = false;
    unwatchReadiness(this.fd);
  }
}

/** Used within one call only. */
const position = new BigInt64Array(16);

const polled = new Int32Array(32);

/** Whether a pipe has something in it, or never will. */
function pipeState(fd: number): 'ready' | 'empty' | 'end' {
  polled[0] = fd;
  polled[1] = linux.POLLIN;
  if (libc().poll(polled, 1, 0) === 0) return 'empty';
  return (polled[1] >> 16) & linux.POLLIN ? 'ready' : 'end';
}

/** Moves what a pipe holds to a position in a file. */
export function moveInto(
  pipe: number,
  target: number,
  { position: at, maxBytes }: { readonly position: BigInt64Array; readonly maxBytes: number },
): Moved {
  const { splice, errno } = libc();
  for (;;) {
    const moved = splice(pipe, null, target, at, maxBytes, linux.SPLICE_F_NONBLOCK);
    if (moved > 0) return moved;
    if (moved === 0) return 'end';
    const reason = errno();
    if (reason === 'EAGAIN') return 'empty';
    if (reason !== 'EINTR') return 'failed';
  }
}
