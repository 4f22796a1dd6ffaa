/** As far as Codex goes. */
const MAX_DISTANCE = 64;
const MAX_BYTES = 1024 * 1024;

/** Puts frames into the order of their numbers. What came before is ignored, what is too far ahead cannot be waited for. */
export class ReorderWindow {
  readonly #early = new Map<number, Uint8Array>();
  #next = 0;
  #bytes = 0;

  /** The payloads whose turn it is now. Throws if some are missing for good. */
  add(seq: number, payload: Uint8Array): Uint8Array[] {
    if (seq < this.#next || this.#early.has(seq)) return [];
    if (seq - this.#next > MAX_DISTANCE) throw new RangeError('too much is missing');
    // A copy: the rest of what it came with need not be kept.
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
