import type { Channel } from './channel.js';
import type { FramedMessage, IncomingMessage } from './message.js';

/** Makes a message of what came in. */
export type ReadMessage = () => IncomingMessage | FramedMessage;

export interface ReadGateOptions {
  readonly channel: Pick<Channel, 'pause' | 'resume'>;
  /** Whether nothing more should be read for now. */
  readonly isBusy: () => boolean;
  /** Takes what was held. */
  readonly receive: (read: ReadMessage, bytes: number) => void;
}

/** Stops reading from a channel while its side has enough to do, and lets nothing get lost that was on its way. */
export class ReadGate {
  readonly #options: ReadGateOptions;
  #paused = false;
  /** What the channel had already when it was told to pause: no more than a transport reads in one go. */
  #held: { readonly read: ReadMessage; readonly bytes: number }[] = [];
  #closed = false;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Keeps a message that came while paused. */
  hold(read: ReadMessage, bytes: number): void {
    this.#held.push({ read, bytes });
  }

  /** There may be more to do, or less. */
  regulate(): void {
    if (this.#closed) return;
    const busy = this.#options.isBusy();
    if (busy === this.#paused) return;
    this.#paused = busy;
    if (busy) return this.#options.channel.pause();
    this.#takeHeld();
    if (!this.#paused) this.#options.channel.resume();
  }

  close(): void {
    this.#closed = true;
  }

  /** As far as there is room: each may be answered with more than fits. */
  #takeHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const { read, bytes } of held) this.#options.receive(read, bytes);
  }
}
