import { type ChildInput, DrainWaiters } from './child-input.js';
import { libc } from '../kernel/index.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** A write to a terminal takes 2 to 4 KiB at most; attempting more per turn would only hold up the loop. */
const WRITE_BYTES = 16 * 1024;
/** Retry delay while the program does not read: doubles up to the maximum, starts over after progress. */
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 32;
const NEWLINE = 0x0a;

/**
 * Input for a terminal. Not through a libuv stream, which spins if the program does not read; instead, non-blocking
 * writes that are retried after a short delay.
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

  /** After progress the next turn continues, so that other work of the loop gets done in between. */
  #again(progress: boolean): void {
    if (this.#queue.length === 0 && !this.#endPending) return;
    this.#retryMs = progress ? FIRST_RETRY_MS : Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    this.#timer = setTimeout(() => this.#pump(), progress ? 0 : this.#retryMs);
  }

  /** At the start of a line the character means end of file; elsewhere it only flushes the line. */
  #typeEnd(): void {
    this.#endPending = false;
    const end = this.#terminal.endOfFileCharacter();
    this.#push(this.#lastByte === NEWLINE ? Uint8Array.of(end) : Uint8Array.of(NEWLINE, end));
  }
}
