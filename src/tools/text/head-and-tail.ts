/** Keeps the first and last bytes of a text of any length. Uses less memory than four times the capacity. */
export class HeadAndTail {
  readonly #capacity: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #totalBytes = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** The head holds the whole text. */
  get complete(): boolean {
    return this.#headBytes === this.#totalBytes;
  }

  append(text: string): void {
    const bytes = Buffer.from(text);
    this.#totalBytes += bytes.length;
    const room = this.#capacity - this.#headBytes;
    if (room > 0) {
      this.#head.push(bytes.subarray(0, room));
      this.#headBytes += Math.min(room, bytes.length);
    }
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    if (this.#tailBytes > 2 * this.#capacity) this.#trim();
  }

  /** The first `capacity` bytes, or fewer if the text is shorter. */
  head(): Buffer {
    return Buffer.concat(this.#head);
  }

  /** The last `capacity` bytes. */
  tail(): Buffer {
    this.#trim();
    return this.#tail[0] ?? Buffer.alloc(0);
  }

  #trim(): void {
    const joined = Buffer.concat(this.#tail);
    // A copy: a view would keep the whole joined buffer alive.
    const kept = Buffer.from(joined.subarray(Math.max(0, joined.length - this.#capacity)));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}
