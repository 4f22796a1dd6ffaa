/** Initial allocation; most commands print less. */
const SMALL_BYTES = 4 * 1024;

/** The beginning of a stream, up to a limit, and a count of the rest. */
export class CapturedOutput {
  readonly #maxBytes: number;
  #kept = new Uint8Array(0);
  #length = 0;
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(bytes: Uint8Array): void {
    const taken = Math.min(bytes.length, this.#maxBytes - this.#length);
    this.#dropped += bytes.length - taken;
    if (taken === 0) return;
    this.#makeRoomFor(taken);
    this.#kept.set(bytes.subarray(0, taken), this.#length);
    this.#length += taken;
  }

  /** The bytes kept, and how many followed. */
  get bytes(): { kept: Uint8Array; truncatedBytes: number } {
    return { kept: this.#kept.slice(0, this.#length), truncatedBytes: this.#dropped };
  }

  /** The same as text. The limit never splits a character: its first bytes then count as truncated. */
  get text(): { kept: string; truncatedBytes: number } {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const cut = this.#dropped > 0 ? unfinishedBytes(this.#kept.subarray(0, this.#length)) : 0;
    const kept = decoder.decode(this.#kept.subarray(0, this.#length - cut));
    return { kept, truncatedBytes: this.#dropped + cut };
  }

  /** Copies, because small chunks may be views of large buffers that should not be retained. */
  #makeRoomFor(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#kept.length) return;
    const size = Math.min(Math.max(needed, 2 * this.#kept.length, SMALL_BYTES), this.#maxBytes);
    const larger = new Uint8Array(size);
    larger.set(this.#kept.subarray(0, this.#length));
    this.#kept = larger;
  }
}

/** Number of bytes at the end that belong to an incomplete character. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return count < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0;
  }
  return 0;
}
