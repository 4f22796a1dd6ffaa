import { ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Channel, OutgoingMessage } from './channel.js';

/** Above this many unsent bytes nobody should push: a stalled reader then costs no more than this. */
export const OUTBOX_FULL_BYTES = 4 * 1024 * 1024;
/** Pushing goes on below this, so that the channel does not run dry between the two. */
export const OUTBOX_DRAINED_BYTES = 1024 * 1024;
/** Parts of one message under way: one leaves while the next is made. */
const PARTS_AHEAD = 2;

/** A piece of a message. Its bytes stay as they are until `release` is called. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  readonly release: () => void;
}

/** What one connection still has to send, in bytes. Answers always go in; whoever pushes asks first. */
export class Outbox {
  #pendingBytes = 0;
  #wasFull = false;
  #closed = false;
  readonly #waiting = new Set<() => void>();
  readonly #channel: Channel;
  readonly #budget: ByteBudget;
  /** Called each time something has left. */
  onFlushed: () => void = () => undefined;
  /** What waits behind a message that is being sent in parts; null while there is none. */
  #behind: (() => void)[] | null = null;

  constructor(channel: Channel, budget: ByteBudget = new ByteBudget()) {
    this.#channel = channel;
    this.#budget = budget;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Whoever asks is told when it has drained. */
  get full(): boolean {
    const isFull = !this.#closed && this.#pendingBytes >= this.#fullBytes();
    if (isFull) this.#wasFull = true;
    return isFull;
  }

  /** `flushed` is called when the message has left this process; never, should the channel end before. */
  send(message: OutgoingMessage, flushed?: () => void): void {
    const bytes = message.length;
    this.#count(bytes);
    this.#inTurn(() =>
      this.#channel.send(message, () => {
        flushed?.();
        this.#flushed(bytes);
      }),
    );
  }

  /**
   * Sends one message in parts, made as the one before leaves; what is sent meanwhile waits behind it. Rejects when the
   * parts cannot be made: then half a message has been sent and the channel is of no more use.
   */
  sendParts(parts: AsyncIterable<MessagePart>, kind: { isFrame: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#inTurn(() => {
        this.#behind = [];
        this.#pump(parts, kind.isFrame)
          .then(resolve, reject)
          .finally(() => this.#goOn());
      });
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
    if (this.#closed) return;
    this.#closed = true;
    this.#budget.remove(this.#pendingBytes);
    for (const listener of [...this.#waiting]) listener();
  }

  async #pump(parts: AsyncIterable<MessagePart>, isFrame: boolean): Promise<void> {
    const underWay: Promise<void>[] = [];
    for await (const part of parts) {
      if (this.#closed) return part.release();
      underWay.push(this.#sendPart(part, isFrame));
      if (underWay.length >= PARTS_AHEAD) await underWay.shift();
    }
  }

  /** Resolves when the part has left, or the channel has ended. */
  #sendPart({ bytes, isLast, release }: MessagePart, isFrame: boolean): Promise<void> {
    this.#count(bytes.length);
    return new Promise((resolve) => {
      const stop = this.#onClose(resolve);
      this.#channel.sendPart(bytes, { isLast, isFrame }, () => {
        stop();
        release();
        this.#flushed(bytes.length);
        resolve();
      });
    });
  }

  #onClose(listener: () => void): () => void {
    return this.onDrained(() => {
      if (this.#closed) listener();
    });
  }

  #inTurn(send: () => void): void {
    if (this.#behind) this.#behind.push(send);
    else send();
  }

  #goOn(): void {
    const behind = this.#behind ?? [];
    this.#behind = null;
    // One of them may be in parts itself: the rest then waits behind that one.
    for (const send of behind) this.#inTurn(send);
  }

  /** Less than usual where others hold so much that all have to do with little. */
  #fullBytes(): number {
    return this.#pendingBytes >= SHARE_BYTES && this.#budget.tight ? SHARE_BYTES : OUTBOX_FULL_BYTES;
  }

  #count(bytes: number): void {
    this.#pendingBytes += bytes;
    if (this.#closed) return;
    this.#budget.add(bytes);
    if (this.#pendingBytes >= OUTBOX_FULL_BYTES) this.#wasFull = true;
  }

  #flushed(bytes: number): void {
    this.#pendingBytes -= bytes;
    if (this.#closed) return;
    this.#budget.remove(bytes);
    this.onFlushed();
    if (!this.#wasFull || this.#pendingBytes > OUTBOX_DRAINED_BYTES) return;
    this.#wasFull = false;
    for (const listener of [...this.#waiting]) listener();
  }
}
