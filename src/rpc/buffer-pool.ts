/** Reuses buffers of one size whose allocation would cost more than their use. */
export class BufferPool {
  readonly bytes: number;
  readonly #most: number;
  readonly #kept: Buffer[] = [];

  /** `kept`: how many unused buffers are retained. More are allocated while more are in use. */
  constructor(options: { bytes: number; kept: number }) {
    this.bytes = options.bytes;
    this.#most = options.kept;
  }

  /** Returns a buffer with undefined content. */
  acquire(): Buffer {
    return this.#kept.pop() ?? Buffer.allocUnsafeSlow(this.bytes);
  }

  /** Call when the buffer is no longer used. A buffer that is never released is simply garbage collected. */
  release(buffer: Buffer): void {
    if (this.#kept.length < this.#most) this.#kept.push(buffer);
  }
}
