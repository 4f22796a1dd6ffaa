/** Consumed rows kept before the list is compacted. */
const MAX_SPENT_ROWS = 256;

/** Counts the bytes that have arrived but were not read yet. */
export class UnreadLedger {
  #rows: { readonly seq: number; readonly bytes: number }[] = [];
  #head = 0;
  #unreadBytes = 0;

  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  add(seq: number, bytes: number): void {
    if (bytes === 0) return;
    this.#rows.push({ seq, bytes });
    this.#unreadBytes += bytes;
  }

  /** Everything up to `seq` was read. Returns the number of bytes this released. */
  consume(seq: number): number {
    let bytes = 0;
    for (let row = this.#rows[this.#head]; row && row.seq <= seq; row = this.#rows[this.#head]) {
      bytes += row.bytes;
      this.#head += 1;
    }
    this.#unreadBytes -= bytes;
    if (this.#head > MAX_SPENT_ROWS && this.#head * 2 > this.#rows.length) {
      this.#rows = this.#rows.slice(this.#head);
      this.#head = 0;
    }
    return bytes;
  }
}
