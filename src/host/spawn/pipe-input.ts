import type { Writable } from 'node:stream';
import { type ChildInput, DrainWaiters } from './child-input.js';

/** Stdin as a pipe. A reader that went away (EPIPE) is not an error; the input is simply no longer open. */
export class PipeInput implements ChildInput {
  readonly #stream: Writable;
  readonly #waiters = new DrainWaiters();
  #queued = 0;
  #open = true;

  /** Owns the stream. */
  constructor(stream: Writable) {
    this.#stream = stream;
    const gone = (): void => this.destroy();
    stream.on('error', gone).on('close', gone);
  }

  get queuedBytes(): number {
    return this.#queued;
  }

  get open(): boolean {
    return this.#open;
  }

  write(bytes: Uint8Array): void {
    if (!this.#open || bytes.length === 0) return;
    this.#queued += bytes.length;
    this.#stream.write(bytes, (error) => {
      if (error) return;
      this.#queued -= bytes.length;
      this.#waiters.shrunkTo(this.#queued);
    });
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#stream.end();
  }

  destroy(): void {
    this.#open = false;
    this.#queued = 0;
    this.#stream.destroy();
    this.#waiters.shrunkTo(0);
  }

  onceWritable(limit: number): Promise<void> {
    return this.#queued <= limit ? Promise.resolve() : this.#waiters.wait(limit);
  }
}
