/** The same as Codex's. */
const MAX_DISTANCE = 64;
const MAX_BYTES = 1024 * 1024;

/** Restores the order of frames. Repeated frames are ignored; one that is too far ahead is an error. */
export class ReorderWindow {
  readonly #early = new Map<number, Uint8Array>();
  #next = 0;
  #bytes = 0;

  /** Returns the payloads that are now in order. Throws if some are lost for good. */
  add(seq: number, payload: Uint8Array): Uint8Array[] {
    if (seq < this.#next || this.#early.has(seq)) return [];
    if (seq - this.#next > MAX_DISTANCE) throw new RangeError('too much is missing');
    // Copied, so that the buffer it arrived in can be freed.
    this.#early.set(seq, seq === this.#next ? payload : Uint8Array.from(payload));
    this.#bytes += payload.length;
    const ready: Uint8Array[] = [];
    for (let each = this.#early.get(this.#next); each; each = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#next += 1;
      this.#bytes -= each.length;
      ready.push(each);
    }
    if (this.#bytes > MAX_BYTES) throw new RangeError('too much is early');
    return ready;
  }
}
