import type { WireEvent } from '../connection/wire-event.js';

/** Events that may wait for an earlier one, as many as Codex's client keeps. */
export const MAX_WAITING_EVENTS = 256;
export const MAX_WAITING_BYTES = 1024 * 1024;
/** While a gap is being read, the answer is behind what a server has queued already: more may pile up. */
const MAX_CATCH_UP_EVENTS = 16_384;
const MAX_CATCH_UP_BYTES = 16 * 1024 * 1024;

/** Puts events in the order of their numbers. Servers may send them out of order and more than once. */
export class EventSequencer {
  readonly #waiting = new Map<number, WireEvent>();
  #waitingBytes = 0;
  #nextSeq = 1;

  /** The number that has to come next. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** True when more wait for a missing event than may. */
  overflows({ catchingUp }: { catchingUp: boolean }): boolean {
    const maxEvents = catchingUp ? MAX_CATCH_UP_EVENTS : MAX_WAITING_EVENTS;
    const maxBytes = catchingUp ? MAX_CATCH_UP_BYTES : MAX_WAITING_BYTES;
    return this.#waiting.size > maxEvents || this.#waitingBytes > maxBytes;
  }

  get waiting(): readonly WireEvent[] {
    return [...this.#waiting.values()];
  }

  has(seq: number): boolean {
    return this.#waiting.has(seq);
  }

  /** Takes an event in, unless its number was seen before. */
  offer(event: WireEvent): void {
    if (event.seq < this.#nextSeq || this.#waiting.has(event.seq)) return;
    this.#waiting.set(event.seq, event);
    this.#waitingBytes += bytesOf(event);
  }

  /** The next event in order, if it is here and `allowed` does not hold it back. */
  take(allowed: (event: WireEvent) => boolean): WireEvent | undefined {
    const event = this.#waiting.get(this.#nextSeq);
    if (!event || !allowed(event)) return undefined;
    this.#forget(event);
    this.#nextSeq = event.type === 'gap' ? event.beforeSeq : event.seq + 1;
    return event;
  }

  /** Lets go of what waits: it will be fetched again. */
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
