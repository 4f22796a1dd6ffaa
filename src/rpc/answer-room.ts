import { ExecError } from '../protocol/errors.js';
import { type ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Outbox } from './outbox.js';

/** Unread bytes of a connection up to which further large answers are made for it. */
export const ANSWERS_AHEAD_BYTES = 8 * 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly start: () => void;
  readonly giveUp: () => void;
}

/**
 * Where large answers of one connection wait to be made. An answer is cheap until it exists: whoever asks for many without
 * reading has few of them in memory. They are made in the order of their requests, and one in each turn of the event loop, so
 * that others get theirs in between.
 */
export class AnswerRoom {
  readonly #outbox: Outbox;
  readonly #budget: ByteBudget;
  /** Reserved for answers that are being made, or wait to be sent in parts. */
  #reserved = 0;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #closed = false;

  constructor(outbox: Outbox, budget: ByteBudget) {
    this.#outbox = outbox;
    this.#budget = budget;
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
      const [next] = this.#waiting;
      if (!next || !this.#fits(next.bytes)) return;
      this.#waiting.shift();
      this.#reserve(next.bytes);
      next.start();
      this.look();
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
  make<Value>(bytes: number, make: () => Value | Promise<Value>): Value | Promise<Value> {
    if (!this.#room.take(bytes)) return this.#makeLater(bytes, make);
    this.#taken += bytes;
    return make();
  }

  /** What the request brought along is kept elsewhere by now, and counted there. */
  paramsDone(): void {
    this.#paramsDone();
  }

  /** The answer has been sent, or counts as unsent. */
  leave(): void {
    if (this.#taken > 0) this.#room.release(this.#taken);
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
