/** Buffers of one size that are used again and again: made anew each time they would cost more than what they are for. */
export class BufferPool {
  readonly bytes: number;
  readonly #most: number;
  readonly #kept: Buffer[] = [];

  /** `kept`: how many wait for their next use. More are made while more are under way. */
  constructor(options: { bytes: number; kept: number }) {
    this.bytes = options.bytes;
    this.#most = options.kept;
  }

  /** Its content is undefined. */
  acquire(): Buffer {
    return this.#kept.pop() ?? Buffer.allocUnsafeSlow(this.bytes);
  }

  /** Nobody uses it any more. One that is never released is simply lost. */
  release(buffer: Buffer): void {
    if (this.#kept.length < this.#most) this.#kept.push(buffer);
  }
}
