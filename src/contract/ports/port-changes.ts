import type { ListeningPort, PortEvent, PortWatch } from './listening-port.js';

/** Two listeners with the same key are the same one. */
function portKey({ port, address, pid, processId, sessionId, sandboxed }: ListeningPort): string {
  return [port, address, pid, processId, sessionId, sandboxed].join(' ');
}

/**
 * The difference between what listens and what a reader has been told. It holds the two states and no queue, so a slow reader
 * costs no more than a fast one.
 */
export class PortChanges implements PortWatch {
  readonly #told = new Map<string, ListeningPort>();
  #current: ReadonlyMap<string, ListeningPort> = new Map();
  #onClose: () => void | Promise<void> = () => undefined;
  #wake: () => void = () => undefined;
  #failure: Error | undefined;
  #closed = false;

  constructor(onClose?: () => void | Promise<void>) {
    if (onClose) this.#onClose = onClose;
  }

  /** What listens now. */
  set(ports: readonly ListeningPort[]): void {
    this.#current = new Map(ports.map((each) => [portKey(each), each]));
    this.#wake();
  }

  opened(port: ListeningPort): void {
    this.#current = new Map(this.#current).set(portKey(port), port);
    this.#wake();
  }

  closed(port: ListeningPort): void {
    const left = new Map(this.#current);
    left.delete(portKey(port));
    this.#current = left;
    this.#wake();
  }

  /** Nothing more will be known: iteration throws. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  /** The next thing to tell; null if there is nothing. */
  take(): PortEvent | null {
    for (const [key, port] of this.#told) {
      if (this.#current.has(key)) continue;
      this.#told.delete(key);
      return { type: 'closed', ...port };
    }
    for (const [key, port] of this.#current) {
      if (this.#told.has(key)) continue;
      this.#told.set(key, port);
      return { type: 'opened', ...port };
    }
    return null;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PortEvent, void> {
    for (;;) {
      for (let event = this.take(); event !== null; event = this.take()) yield event;
      if (this.#failure) throw this.#failure;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake();
    await this.#onClose();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
