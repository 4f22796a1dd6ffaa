import { ExecError } from '../protocol/errors.js';
import { type ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Outbox } from './outbox.js';

/** No further large answers are produced for a connection while this many bytes are unread. */
export const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** Lower bound of an estimate: if large answers follow small ones, this limits how many are produced at once. */
const MIN_ESTIMATE_BYTES = 256 * 1024;
/** An estimate is never larger than what may be produced ahead of the reader. */
const MAX_ESTIMATE_BYTES = MAX_UNREAD_BYTES;
/** How quickly a large answer stops influencing the estimate, applied per smaller answer. */
const DECAY = 0.9;

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
  readonly giveUp: () => void;
}

/**
 * Queues the large answers of one connection until there is room to produce them. An answer costs nothing until it
 * exists, so a client that requests many without reading keeps only a few in memory. Answers are produced in request
 * order, a few per turn of the event loop, so that other connections get their turn.
 */
export class AnswerQueue {
  readonly #outbox: Outbox;
  readonly #budget: ByteBudget;
  /** Reserved for answers that are being produced or are waiting to be sent in parts. */
  #reserved = 0;
  /** Decaying maximum of recent answer sizes. */
  #recentBytes = Number.POSITIVE_INFINITY;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #closed = false;

  constructor(outbox: Outbox, budget: ByteBudget) {
    this.#outbox = outbox;
    this.#budget = budget;
  }

  /** Estimates the size of the next answer: the given maximum, unless recent answers were small. */
  estimate(bytes: number): number {
    return Math.min(bytes, Math.max(this.#recentBytes, MIN_ESTIMATE_BYTES));
  }

  /** Records the actual size of an answer. */
  learn(bytes: number): void {
    this.#recentBytes = Math.max(bytes, Math.min(this.#recentBytes, MAX_ESTIMATE_BYTES) * DECAY);
  }

  /** Reserves this many bytes if there is room for them. Returns whether it did. */
  tryReserve(bytes: number): boolean {
    if (this.#closed || this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#add(bytes);
    return true;
  }

  /** Reserves the bytes once there is room. Rejects when the connection closes first. */
  async reserve(bytes: number): Promise<void> {
    if (this.#closed) throw gone();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes, start: resolve, giveUp: () => reject(gone()) });
      this.retry();
    });
  }

  /** Call when the answer has been sent or is counted by the outbox. */
  release(bytes: number): void {
    this.#reserved -= bytes;
    this.#budget.remove(bytes);
    this.retry();
  }

  /** Starts waiting answers if there is room for them now. */
  retry(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
        this.#waiting.shift();
        this.#add(next.bytes);
        next.start();
      }
    });
  }

  close(): void {
    this.#closed = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each.giveUp();
  }

  #add(bytes: number): void {
    this.#reserved += bytes;
    this.#budget.add(bytes);
  }

  /** One answer always fits: a client that reads must make progress. */
  #fits(bytes: number): boolean {
    const used = this.#outbox.pendingBytes + this.#reserved;
    return used === 0 || used + bytes <= (this.#budget.tight ? SHARE_BYTES : MAX_UNREAD_BYTES);
  }
}

/** The reservation of one answer in the queue. */
export class AnswerSlot {
  readonly #queue: AnswerQueue;
  readonly #paramsDone: () => void;
  #reserved = 0;

  constructor(queue: AnswerQueue, paramsDone: () => void) {
    this.#queue = queue;
    this.#paramsDone = paramsDone;
  }

  /** Produces an answer of about this size, immediately if there is room, otherwise as soon as there is. */
  make<Value>(atMost: number, make: () => Value | Promise<Value>): Value | Promise<Value> {
    return this.makeOf(this.#queue.estimate(atMost), make);
  }

  /** The same for a size that is known. */
  makeOf<Value>(bytes: number, make: () => Value | Promise<Value>): Value | Promise<Value> {
    if (!this.#queue.tryReserve(bytes)) return this.#makeLater(bytes, make);
    this.#reserved += bytes;
    return make();
  }

  /** The request's parameters are now stored and counted elsewhere. */
  paramsDone(): void {
    this.#paramsDone();
  }

  /** Call when the answer has been sent or is counted by the outbox. `bytes`: its actual size, if known. */
  release(bytes?: number): void {
    if (this.#reserved === 0) return;
    if (bytes !== undefined) this.#queue.learn(bytes);
    this.#queue.release(this.#reserved);
    this.#reserved = 0;
  }

  async #makeLater<Value>(bytes: number, make: () => Value | Promise<Value>): Promise<Value> {
    await this.#queue.reserve(bytes);
    this.#reserved += bytes;
    return await make();
  }
}

function gone(): ExecError {
  return new ExecError('connectionClosed', 'The connection ended before the answer was produced.');
}
