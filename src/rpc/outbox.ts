import type { Channel, OutgoingMessage } from './channel.js';

/** Above this many unsent bytes nobody should push: a stalled reader then costs no more than this. */
export const OUTBOX_FULL_BYTES = 4 * 1024 * 1024;
/** Pushing goes on below this, so that the channel does not run dry between the two. */
export const OUTBOX_DRAINED_BYTES = 1024 * 1024;

/** What one connection still has to send, in bytes. Answers always go in; whoever pushes asks first. */
export class Outbox {
  #pendingBytes = 0;
  #wasFull = false;
  #closed = false;
  readonly #waiting = new Set<() => void>();
  readonly #channel: Channel;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get full(): boolean {
    return !this.#closed && this.#pendingBytes >= OUTBOX_FULL_BYTES;
  }

  /** `flushed` is called when the message has left this process; never, should the channel end before. */
  send(message: OutgoingMessage, flushed?: () => void): void {
    const bytes = message.length;
    this.#pendingBytes += bytes;
    if (this.full) this.#wasFull = true;
    this.#channel.send(message, () => {
      flushed?.();
      this.#flushed(bytes);
    });
  }

  /** Calls `listener` each time the outbox, having been full, has drained. Returns how to stop that. */
  onDrained(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Resolves when there is room; at once if there is. */
  async room(): Promise<void> {
    if (!this.full) return;
    await new Promise<void>((resolve) => {
      const stop = this.onDrained(() => {
        stop();
        resolve();
      });
    });
  }

  /** Nobody will read any more: whoever waits for room goes on, and what is sent is lost. */
  close(): void {
    this.#closed = true;
    for (const listener of [...this.#waiting]) listener();
  }

  #flushed(bytes: number): void {
    this.#pendingBytes -= bytes;
    if (!this.#wasFull || this.#pendingBytes > OUTBOX_DRAINED_BYTES) return;
    this.#wasFull = false;
    for (const listener of [...this.#waiting]) listener();
  }
}
