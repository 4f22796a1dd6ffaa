import { ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Channel, OutgoingMessage } from './channel.js';

/** Above this many unsent bytes nothing should be pushed, which bounds the cost of a stalled reader. */
export const OUTBOX_FULL_BYTES = 4 * 1024 * 1024;
/** Pushing resumes below this, so that the channel does not run dry in between. */
const OUTBOX_DRAINED_BYTES = 1024 * 1024;
/** Parts of one message in flight: one is being sent while the next is produced. */
const MAX_PARTS_IN_FLIGHT = 2;

/** A part of a message. Its bytes must not change until `release` is called. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
  readonly release: () => void;
}

/** Counts the unsent bytes of one connection. Answers are always accepted; anything pushed must check `full` first. */
export class Outbox {
  #pendingBytes = 0;
  #wasFull = false;
  #closed = false;
  readonly #waiting = new Set<() => void>();
  readonly #channel: Channel;
  readonly #budget: ByteBudget;
  /** Called whenever something has left. */
  onFlushed: () => void = () => undefined;
  /** Sends queued behind a message that is being sent in parts; null while there is none. */
  #queued: (() => void)[] | null = null;

  constructor(channel: Channel, budget: ByteBudget = new ByteBudget()) {
    this.#channel = channel;
    this.#budget = budget;
    // It counts: a client that does not read would have more and more ahead of it with each server.
    const leftover: number = channel.sendLeftover?.(() => this.#flushed(leftover)) ?? 0;
    this.#count(leftover);
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Whether everything it was given has been passed on to the channel. */
  get isPassedOn(): boolean {
    return this.#queued === null;
  }

  /** After this was true, `onDrained` listeners are called once the outbox has drained. */
  get full(): boolean {
    const isFull = !this.#closed && this.#pendingBytes >= this.#fullBytes();
    if (isFull) this.#wasFull = true;
    return isFull;
  }

  /** `flushed` is called when the message has left this process, and never if the channel ends before. */
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
   * Sends one message in parts, each produced while the previous one leaves; later messages queue behind it. Rejects if
   * a part cannot be produced: half a message has then been sent, and the channel is unusable.
   */
  sendParts(parts: AsyncIterable<MessagePart>, kind: { isFrame: boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#inTurn(() => {
        this.#queued = [];
        this.#pump(parts, kind.isFrame)
          .then(resolve, reject)
          .finally(() => this.#sendQueued());
      });
    });
  }

  /** Calls `listener` whenever the outbox has drained after being full. Returns an unsubscribe function. */
  onDrained(listener: () => void): () => void {
    this.#waiting.add(listener);
    return () => this.#waiting.delete(listener);
  }

  /** Resolves when there is room, immediately if there is some now. */
  async room(): Promise<void> {
    if (!this.full) return;
    await new Promise<void>((resolve) => {
      const stop = this.onDrained(() => {
        stop();
        resolve();
      });
    });
  }

  /** The reader is gone: releases everyone waiting for room and discards what is sent from now on. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#budget.remove(this.#pendingBytes);
    for (const listener of [...this.#waiting]) listener();
  }

  async #pump(parts: AsyncIterable<MessagePart>, isFrame: boolean): Promise<void> {
    const inFlight: Promise<void>[] = [];
    for await (const part of parts) {
      if (this.#closed) return part.release();
      inFlight.push(this.#sendPart(part, isFrame));
      if (inFlight.length >= MAX_PARTS_IN_FLIGHT) await inFlight.shift();
    }
  }

  /** Resolves when the part has left or the channel has ended. */
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
    if (this.#queued) this.#queued.push(send);
    else send();
  }

  #sendQueued(): void {
    const queued = this.#queued ?? [];
    this.#queued = null;
    // One of them may itself be in parts; the rest then queues behind it.
    for (const send of queued) this.#inTurn(send);
  }

  /** Lower than usual when other connections use up the shared budget. */
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
