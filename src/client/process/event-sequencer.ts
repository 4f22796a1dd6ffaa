import type { WireEvent } from '../connection/wire-event.js';

/** Events that may wait for an earlier one. The same as Codex's client. */
export const MAX_WAITING_EVENTS = 256;
export const MAX_WAITING_BYTES = 1024 * 1024;
/** While a gap is being read, the answer queues behind what the server has already sent, so more may pile up. */
const MAX_CATCH_UP_EVENTS = 16_384;
const MAX_CATCH_UP_BYTES = 16 * 1024 * 1024;

/** Orders events by number. Servers may send them out of order and more than once. */
export class EventSequencer {
  readonly #waiting = new Map<number, WireEvent>();
  #waitingBytes = 0;
  #nextSeq = 1;

  /** The next number to deliver. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether something waits for an earlier event. */
  get hasHole(): boolean {
    return this.#waiting.size > 0;
  }

  /** Begins with another number than 1. */
  startAt(seq: number): void {
    this.#nextSeq = seq;
    for (const event of this.waiting) if (event.seq < seq) this.#forget(event);
  }

  /** Whether too much is waiting for a missing event. */
  overflows({ catchingUp }: { catchingUp: boolean }): boolean {
    const maxEvents = catchingUp ? MAX_CATCH_UP_EVENTS : MAX_WAITING_EVENTS;
    const maxBytes = catchingUp ? MAX_CATCH_UP_BYTES : MAX_WAITING_BYTES;
    return this.#waiting.size > maxEvents || this.#waitingBytes > maxBytes;
  }

  get waiting(): readonly WireEvent[] {
    return [...this.#waiting.values()];
  }

  /** How much output each waiting event is, by its number. */
  get sizes(): ReadonlyMap<number, number> {
    return new Map(this.waiting.map((event) => [event.seq, bytesOf(event)]));
  }

  has(seq: number): boolean {
    return this.#waiting.has(seq);
  }

  /** Adds an event unless its number was seen before. */
  offer(event: WireEvent): void {
    if (event.seq < this.#nextSeq || this.#waiting.has(event.seq)) return;
    this.#waiting.set(event.seq, event);
    this.#waitingBytes += bytesOf(event);
  }

  /** Removes and returns the next event in order, if it has arrived and is `allowed`. */
  take(allowed: (event: WireEvent) => boolean): WireEvent | undefined {
    const event = this.#waiting.get(this.#nextSeq);
    if (!event || !allowed(event)) return undefined;
    this.#forget(event);
    this.#nextSeq = event.type === 'gap' ? event.beforeSeq : event.seq + 1;
    return event;
  }

  /** Discards waiting events. They will be read again. */
  drop(): void {
    this.#waiting.clear();
    this.#waitingBytes = 0;
  }

  #forget(event: WireEvent): void {
    this.#waiting.delete(event.seq);
    this.#waitingBytes -= bytesOf(event);
  }
}

function bytesOf(event: WireEvent): number {
  return event.type === 'output' ? event.bytes.length : 0;
}
