import { type ChildInput, DrainWaiters } from './child-input.js';
import { libc } from '../kernel/index.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** One write takes 2 to 4 KiB of a terminal's input at most; more per turn would only hold up the loop. */
const WRITE_BYTES = 16 * 1024;
/** How long to wait when the program does not read: doubles up to the maximum, starts again with progress. */
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 32;
const NEWLINE = 0x0a;

/**
 * Typing on a terminal. Never through a libuv stream, which spins on a terminal whose program does not read;
 * instead non-blocking writes, tried again after a short while.
 */
export class PtyInput implements ChildInput {
  readonly #terminal: PseudoTerminal;
  readonly #queue: Uint8Array[] = [];
  readonly #waiters = new DrainWaiters();
  #queued = 0;
  #open = true;
  #endPending = false;
  #lastByte = NEWLINE;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(terminal: PseudoTerminal) {
    this.#terminal = terminal;
  }

  get queuedBytes(): number {
    return this.#queued;
  }

  get open(): boolean {
    return this.#open;
  }

  write(bytes: Uint8Array): void {
    if (!this.#open || bytes.length === 0) return;
    this.#push(bytes);
    if (this.#timer === undefined) this.#pump();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#endPending = true;
    if (this.#timer === undefined) this.#pump();
  }

  destroy(): void {
    this.#open = false;
    this.#endPending = false;
    this.#queue.length = 0;
    this.#queued = 0;
    clearTimeout(this.#timer);
    this.#waiters.shrunkTo(0);
  }

  onceWritable(limit: number): Promise<void> {
    return this.#queued <= limit ? Promise.resolve() : this.#waiters.wait(limit);
  }

  #push(bytes: Uint8Array): void {
    this.#queue.push(bytes);
    this.#queued += bytes.length;
    this.#lastByte = bytes.at(-1) ?? this.#lastByte;
  }

  #pump(): void {
    this.#timer = undefined;
    if (this.#queue.length === 0 && this.#endPending) this.#typeEnd();
    const head = this.#queue[0];
    if (head === undefined || this.#terminal.closed) return;
    const written = libc().write(this.#terminal.control, head, Math.min(head.length, WRITE_BYTES));
    if (written > 0) this.#written(head, written);
    else if (written < 0 && !['EAGAIN', 'EINTR'].includes(libc().errno())) return this.destroy();
    this.#again(written > 0);
  }

  #written(head: Uint8Array, count: number): void {
    if (count === head.length) this.#queue.shift();
    else this.#queue[0] = head.subarray(count);
    this.#queued -= count;
    this.#waiters.shrunkTo(this.#queued);
  }

  /** After progress the next turn continues; other work of the loop comes in between. */
  #again(progress: boolean): void {
    if (this.#queue.length === 0 && !this.#endPending) return;
    this.#retryMs = progress ? FIRST_RETRY_MS : Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#timer = setTimeout(() => this.#pump(), progress ? 0 : this.#retryMs);
  }

  /** On a line that has begun the character only flushes; on an empty line it is the end of the file. */
  #typeEnd(): void {
    this.#endPending = false;
    const end = this.#terminal.endOfFileCharacter();
    this.#push(this.#lastByte === NEWLINE ? Uint8Array.of(end) : Uint8Array.of(NEWLINE, end));
  }
}
