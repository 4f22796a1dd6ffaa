import type { Outbox } from '../../rpc/index.js';

/** How long to push before yielding: messages may be compressed, and requests wait meanwhile. */
const TURN_MS = 5;

/** A source of messages to push. */
export interface PushSource {
  /** Pushes one message. Returns false if there is nothing more to push for now. */
  pushOne(): boolean;
}

/**
 * Shares one connection among its processes. Each pushes one message in turn while the outbox has room, so that a flood
 * from one does not starve the others.
 */
export class PushQueue {
  readonly #outbox: Outbox;
  readonly #ready = new Set<PushSource>();
  readonly #stop: () => void;
  #running = false;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
    this.#stop = outbox.onDrained(() => this.#run());
  }

  /** The source has, or may have, something to push. */
  schedule(source: PushSource): void {
    this.#ready.add(source);
    this.#run();
  }

  remove(source: PushSource): void {
    this.#ready.delete(source);
  }

  close(): void {
    this.#stop();
    this.#ready.clear();
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    const end = performance.now() + TURN_MS;
    for (const source of this.#ready) {
      if (this.#outbox.full) break;
      if (performance.now() > end) {
        setImmediate(() => this.#run());
        break;
      }
      this.#ready.delete(source);
      // Re-added at the end: the iteration reaches it after all others.
      if (source.pushOne()) this.#ready.add(source);
    }
    this.#running = false;
  }
}
