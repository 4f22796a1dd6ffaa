import type { WriteStatus } from '../../contract/index.js';

/** Writes that were made and not answered yet, so that no more is read than may wait. */
export class ReadAhead {
  readonly #limit: number;
  readonly #writes: { readonly bytes: number; readonly written: Promise<WriteStatus> }[] = [];
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(bytes: number, written: Promise<WriteStatus>): void {
    this.#bytes += bytes;
    this.#writes.push({ bytes, written });
    // Reported to the next caller that asks for room.
    written.catch(() => undefined);
  }

  /** Resolves when more may be read, to the answer that came last. Rejects as the write did. */
  async room(): Promise<WriteStatus> {
    let status: WriteStatus = 'accepted';
    while (this.#bytes > this.#limit && status === 'accepted') {
      const oldest = this.#writes.shift();
      if (!oldest) break;
      status = await oldest.written;
      this.#bytes -= oldest.bytes;
    }
    return status;
  }
}
