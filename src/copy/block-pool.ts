/** Blocks to read into. Those that are free again are used again: memory that is let go is not returned to the system soon. */
export class BlockPool {
  readonly #bytes: number;
  readonly #free: Uint8Array[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  /** Runs `work` with a block. One that may still be on its way when something failed is not used again. */
  async withBlock<Value>(work: (block: Uint8Array) => Promise<Value>): Promise<Value> {
    const block = this.#free.pop() ?? new Uint8Array(this.#bytes);
    const value = await work(block);
    this.#free.push(block);
    return value;
  }
}
