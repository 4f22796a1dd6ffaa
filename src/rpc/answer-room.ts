import { ExecError } from '../protocol/errors.js';
import { type ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Outbox } from './outbox.js';

/** Unread bytes of a connection up to which further large answers are made for it. */
export const ANSWERS_AHEAD_BYTES = 8 * 1024 * 1024;

/** The least any is taken for: should large ones follow on small ones, not too many of them are made at once. */
const LEAST_BYTES = 256 * 1024;
/** Guesses are never larger than what answers are made ahead. */
const LARGEST_GUESS_BYTES = ANSWERS_AHEAD_BYTES;
/** How fast large answers are forgotten, by each that is not. */
const FADING = 0.9;

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
  readonly giveUp: () => void;
}

/**
 * Where large answers of one connection wait to be made. An answer is cheap until it exists: whoever asks for many without
 * reading has few of them in memory. They are made in the order of their requests, a few in each turn of the event loop, so that
 * others get theirs in between.
 */
export class AnswerRoom {
  readonly #outbox: Outbox;
  readonly #budget: ByteBudget;
  /** Reserved for answers that are being made, or wait to be sent in parts. */
  #reserved = 0;
  /** What answers turned out to be lately, the largest of them. */
  #lately = Number.POSITIVE_INFINITY;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #closed = false;

  constructor(outbox: Outbox, budget: ByteBudget) {
    this.#outbox = outbox;
    this.#budget = budget;
  }

  /** How large the next answer is taken for: as large as it may well be, unless they have been small lately. */
  guess(bytes: number): number {
    return Math.min(bytes, Math.max(this.#lately, LEAST_BYTES));
  }

  /** An answer was this large in the end. */
  learn(bytes: number): void {
    this.#lately = Math.max(bytes, Math.min(this.#lately, LARGEST_GUESS_BYTES) * FADING);
  }

  /** Whether there was room for this many bytes; then they are taken. */
  take(bytes: number): boolean {
    if (this.#closed || this.#waiting.length > 0 || !this.#fits(bytes)) return false;
    this.#reserve(bytes);
    return true;
  }

  /** Takes them once there is room. Rejects when there never will be. */
  async takeLater(bytes: number): Promise<void> {
    if (this.#closed) throw gone();
    await new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes, start: resolve, giveUp: () => reject(gone()) });
      this.look();
    });
  }

  /** The answer has been sent, or counts as unsent by now. */
  release(bytes: number): void {
    this.#reserved -= bytes;
    this.#budget.remove(bytes);
    this.look();
  }

  /** There may be room now. */
  look(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      for (let next = this.#waiting[0]; next && this.#fits(next.bytes); next = this.#waiting[0]) {
        this.#waiting.shift();
        this.#reserve(next.bytes);
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

  #reserve(bytes: number): void {
    this.#reserved += bytes;
    this.#budget.add(bytes);
  }

  /** One fits in any case: somebody who reads must always get on. */
  #fits(bytes: number): boolean {
    const used = this.#outbox.pendingBytes + this.#reserved;
    return used === 0 || used + bytes <= (this.#budget.tight ? SHARE_BYTES : ANSWERS_AHEAD_BYTES);
  }
}

/** The place of one answer in that room. */
export class AnswerPlace {
  readonly #room: AnswerRoom;
  readonly #paramsDone: () => void;
  #taken = 0;

  constructor(room: AnswerRoom, paramsDone: () => void) {
    this.#room = room;
    this.#paramsDone = paramsDone;
  }

  /** Makes an answer of about this size once there is room for it: at once, where there is. */
  make<Value>(atMost: number, make: () => Value | Promise<Value>): Value | Promise<Value> {
    const bytes = this.#room.guess(atMost);
    if (!this.#room.take(bytes)) return this.#makeLater(bytes, make);
    this.#taken += bytes;
    return make();
  }

  /** What the request brought along is kept elsewhere by now, and counted there. */
  paramsDone(): void {
    this.#paramsDone();
  }

  /** The answer has been sent, or counts as unsent. `bytes`: how large it was, if that is known. */
  leave(bytes?: number): void {
    if (this.#taken === 0) return;
    if (bytes !== undefined) this.#room.learn(bytes);
    this.#room.release(this.#taken);
    this.#taken = 0;
  }

  async #makeLater<Value>(bytes: number, make: () => Value | Promise<Value>): Promise<Value> {
    await this.#room.takeLater(bytes);
    this.#taken += bytes;
    return await make();
  }
}

function gone(): ExecError {
  return new ExecError('connectionClosed', 'Nobody waits for the answer any more.');
}
