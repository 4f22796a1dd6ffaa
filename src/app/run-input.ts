import type { ExecProcess, InputQueue, QueuedInput, WriteStatus } from '../contract/index.js';

/** What the programs of a connection may have queued beyond the share of each. */
const MAX_BEYOND_BYTES = 32 * 1024 * 1024;

/** The input of one run. It counts towards what its connection and the server may hold. */
export class RunInput implements InputQueue {
  readonly #process: ExecProcess & Partial<InputQueue>;
  readonly #queued: QueuedInput;
  readonly #gone: Promise<unknown>;
  #writing = 0;

  constructor(process: ExecProcess, { queued, gone }: { queued: QueuedInput; gone: Promise<unknown> }) {
    this.#process = process;
    this.#queued = queued;
    this.#gone = gone;
  }

  get processId(): string {
    return this.#process.processId;
  }

  /** A program on another machine has its queue there; here is what has not been answered. */
  get queuedInputBytes(): number {
    return Math.max(this.#writing, this.#process.queuedInputBytes ?? 0);
  }

  onInputGone(listener: () => void): () => void {
    if (this.#process.onInputGone) return this.#process.onInputGone(listener);
    this.#gone.then(listener, listener);
    return () => undefined;
  }

  /** Throws `stdinFull`, with nothing queued, if too much is held already for programs that do not read. */
  async write(bytes: Uint8Array): Promise<WriteStatus> {
    this.#queued.requireRoom(this, bytes.length, () => MAX_BEYOND_BYTES - this.#queued.beyondShares);
    this.#writing += bytes.length;
    try {
      return await this.#process.write(bytes);
    } finally {
      this.#writing -= bytes.length;
    }
  }
}
