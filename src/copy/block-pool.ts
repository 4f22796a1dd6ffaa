/** Reusable blocks of memory. New ones each time would grow the process, because freed memory is returned to the system late. */
export class BlockPool {
  readonly #bytes: number;
  readonly #free: Uint8Array[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Runs `work` with a block. After a failure the block is not reused, because it may still be in flight. */
  async withBlock<Value>(work: (block: Uint8Array) => Promise<Value>): Promise<Value> {
    const block = this.#free.pop() ?? new Uint8Array(this.#bytes);
    const value = await work(block);
    this.#free.push(block);
    return value;
  }
}
