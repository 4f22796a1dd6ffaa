const TILDE = 0x7e;
const DOT = 0x2e;
const LINE_ENDS: readonly number[] = [0x0a, 0x0d];

/** Detects `~.` at the start of a typed line, as ssh does: the way out when the remote side does not respond. */
export class LineEscape {
  #atLineStart = true;
  #heldTilde = false;

  /** Returns the input to forward, and whether the escape was typed. `~~` sends one `~`. */
  take(input: Uint8Array): { readonly pass: Uint8Array; readonly left: boolean } {
    const pass: number[] = [];
    for (const byte of input) {
      if (this.#heldTilde) {
        this.#heldTilde = false;
        if (byte === DOT) return { pass: Uint8Array.from(pass), left: true };
        if (byte !== TILDE) pass.push(TILDE);
      } else if (byte === TILDE && this.#atLineStart) {
        this.#heldTilde = true;
        continue;
      }
      pass.push(byte);
      this.#atLineStart = LINE_ENDS.includes(byte);
    }
    return { pass: Uint8Array.from(pass), left: false };
  }
}
