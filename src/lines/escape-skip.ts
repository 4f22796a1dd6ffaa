const NEWLINE = 0x0a;
const BELL = 0x07;
const ESCAPE = 0x1b;

/** The position in an escape sequence: after ESC, in a control sequence, in a string, or after ESC in a string. */
type Inside = 'none' | 'escape' | 'control' | 'string' | 'stringEscape';

/** After `ESC`, one of these begins a string: `P`, `X`, `]`, `^`, `_`. */
const STRINGS: readonly number[] = [0x50, 0x58, 0x5d, 0x5e, 0x5f];

/** Skips escape sequences, such as those for colours. A sequence ends with its line at the latest. */
export class EscapeSkip {
  #inside: Inside = 'none';

  get isInside(): boolean {
    return this.#inside !== 'none';
  }

  begin(): void {
    this.#inside = 'escape';
  }

  /** Continues within a sequence. Returns the offset where text resumes, or the end. */
  skip(bytes: Uint8Array, from: number, to: number): number {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === NEWLINE) {
        this.#inside = 'none';
        return at;
      }
      this.#inside = after(this.#inside, byte);
      if (this.#inside === 'none') return at + 1;
    }
    return to;
  }
}

function after(inside: Inside, byte: number): Inside {
  if (inside === 'escape') {
    if (byte === 0x5b) return 'control';
    if (STRINGS.includes(byte)) return 'string';
    // Intermediate bytes, as in sequences that select a character set.
    return byte >= 0x20 && byte <= 0x2f ? 'escape' : 'none';
  }
  if (inside === 'control') return byte >= 0x40 && byte <= 0x7e ? 'none' : 'control';
  if (inside === 'stringEscape') return byte === 0x5c ? 'none' : 'string';
  if (byte === ESCAPE) return 'stringEscape';
  return byte === BELL ? 'none' : inside;
}
