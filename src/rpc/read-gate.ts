import type { Channel } from './channel.js';
import type { FramedMessage, IncomingMessage } from './message.js';

/** One message as it was received. */
export interface Received {
  readonly raw: string | Uint8Array;
  /** Parses it. */
  readonly read: () => IncomingMessage | FramedMessage;
}

export interface ReadGateOptions {
  readonly channel: Pick<Channel, 'pause' | 'resume'>;
  /** Whether no more should be read for now. */
  readonly isBusy: () => boolean;
  /** Processes a message that was held. */
  readonly receive: (message: Received) => void;
}

/** Pauses reading from a channel while its owner is busy, without losing messages that have already arrived. */
export class ReadGate {
  readonly #options: ReadGateOptions;
  #paused = false;
  /** Messages the channel still delivered after being paused: no more than a transport reads at once. */
  #held: Received[] = [];
  #closed = false;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Keeps a message that arrived while paused. */
  hold(message: Received): void {
    this.#held.push(message);
  }

  /** Messages that nobody has seen. */
  get held(): readonly Received[] {
    return this.#held;
  }

  /** Pauses or resumes after the load changed. */
  update(): void {
    if (this.#closed) return;
    const busy = this.#options.isBusy();
    if (busy === this.#paused) return;
    this.#paused = busy;
    if (busy) return this.#options.channel.pause();
    this.#deliverHeld();
    if (!this.#paused) this.#options.channel.resume();
  }

  close(): void {
    this.#closed = true;
  }

  /** Stops as soon as we are busy again: `receive` then holds the rest. */
  #deliverHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const message of held) this.#options.receive(message);
  }
}
