import type { Outbox } from '../../rpc/index.js';
import { pushLater, turnEnd, turnTaken } from './push-turns.js';

/** A source of messages to push. */
export interface PushSource {
  /** Pushes one message. Returns false if there is nothing more to push for now. */
  pushOne(): boolean;
  /** Another server can continue where it stops. Default: no. */
  readonly isResumable?: boolean;
}

/** Something long that is sent in several messages, each produced while the previous one leaves. */
export interface PushStream {
  /** Sends one message when it is its turn. Resolves then, or when the connection ends. */
  push(send: () => void): Promise<void>;
  close(): void;
}

/**
 * Shares one connection among its processes and streams. Each pushes one message in turn while the outbox has room, so
 * that a flood from one does not starve the others.
 */
export class PushQueue {
  readonly #outbox: Outbox;
  readonly #ready = new Set<PushSource>();
  /** Releases those waiting for a turn that will not come. */
  readonly #waiting = new Set<() => void>();
  readonly #stop: () => void;
  #idle: (() => void)[] = [];
  #openStreams = 0;
  #running = false;
  #yielding = false;
  #closed = false;
  #resting = false;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
    this.#stop = outbox.onDrained(() => this.#run());
  }

  /** The source has, or may have, something to push. */
  schedule(source: PushSource): void {
    if (this.#resting && source.isResumable) return;
    this.#ready.add(source);
    this.#run();
  }

  remove(source: PushSource): void {
    this.#ready.delete(source);
  }

  openStream(): PushStream {
    this.#openStreams += 1;
    return {
      push: (send) => this.#inTurn(send),
      close: () => {
        this.#openStreams -= 1;
      },
    };
  }

  /** Pushes only what no later server could push. */
  rest(): void {
    this.#resting = true;
    for (const source of this.#ready) if (source.isResumable) this.#ready.delete(source);
  }

  /** Whether everything left can be pushed by a later server. */
  get isAtRest(): boolean {
    return this.#ready.size === 0 && this.#openStreams === 0;
  }

  /** Resolves when nothing is left to push, or the connection has ended. */
  async pushed(): Promise<void> {
    if (this.#closed || this.#ready.size === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  close(): void {
    this.#closed = true;
    this.#stop();
    this.#ready.clear();
    for (const release of [...this.#waiting, ...this.#idle.splice(0)]) release();
  }

  async #inTurn(send: () => void): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      const release = (): void => {
        this.#waiting.delete(release);
        resolve();
      };
      this.#waiting.add(release);
      this.schedule({
        pushOne: () => {
          send();
          release();
          return false;
        },
      });
    });
  }

  #run(): void {
    if (this.#running || this.#yielding) return;
    this.#running = true;
    const begun = performance.now();
    const end = turnEnd(begun);
    let isFirst = true;
    // A stream's next message takes a turn of the event loop to arrive. Until then, nobody else has a second turn.
    let turns = this.#openStreams > 0 ? this.#ready.size : Number.POSITIVE_INFINITY;
    for (const source of this.#ready) {
      if (this.#outbox.full) break;
      // A single message delays nobody, and must not wait for the floods of others.
      if (turns === 0 || (!isFirst && performance.now() > end)) {
        this.#yield();
        break;
      }
      isFirst = false;
      turns -= 1;
      this.#ready.delete(source);
      // Re-added at the end: the iteration reaches it after all others.
      if (source.pushOne()) this.#ready.add(source);
    }
    turnTaken(performance.now() - begun);
    this.#running = false;
    if (this.#ready.size === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  #yield(): void {
    this.#yielding = true;
    pushLater(() => {
      this.#yielding = false;
      this.#run();
    });
  }
}
