/** First allocation; most commands say less. */
const SMALL_BYTES = 4 * 1024;

/** The beginning of a stream, up to a bound, and how much more there was. */
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

  /** What was kept, and the number of bytes that follow it. */
  get bytes(): { kept: Uint8Array; truncatedBytes: number } {
    return { kept: this.#kept.slice(0, this.#length), truncatedBytes: this.#dropped };
  }

  /** The same as text. The bound never cuts a character in two: its first bytes count as truncated then. */
  get text(): { kept: string; truncatedBytes: number } {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const cut = this.#dropped > 0 ? unfinishedBytes(this.#kept.subarray(0, this.#length)) : 0;
    const kept = decoder.decode(this.#kept.subarray(0, this.#length - cut));
    return { kept, truncatedBytes: this.#dropped + cut };
  }

  /** Copied, because small chunks may lie in large buffers that should not be kept for them. */
  #makeRoomFor(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#kept.length) return;
    const size = Math.min(Math.max(needed, 2 * this.#kept.length, SMALL_BYTES), this.#maxBytes);
    const larger = new Uint8Array(size);
    larger.set(this.#kept.subarray(0, this.#length));
    this.#kept = larger;
  }
}

/** How many bytes at the end begin a character without finishing it. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count += 1) {
    const byte = bytes[bytes.length - count] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return count < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? count : 0;
  }
  return 0;
}
