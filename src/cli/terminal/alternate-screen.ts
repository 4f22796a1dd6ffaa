const ESCAPE = 0x1b;
/** Entering and leaving it, as terminals have called it over the years. */
// eslint-disable-next-line no-control-regex
const SWITCH = /\u001b\[\?(?:1049|1047|47)([hl])/g;
/** One byte less than the longest switch: what may be the beginning of one at the end of a piece. */
const TAIL_BYTES = 7;

/** Follows output to know whether a full-screen program has the terminal. */
export class AlternateScreen {
  #active = false;
  #tail = '';

  get active(): boolean {
    return this.#active;
  }

  take(bytes: Uint8Array): void {
    if (this.#tail === '' && !bytes.includes(ESCAPE)) return;
    const text = this.#tail + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    for (const [, letter] of text.matchAll(SWITCH)) this.#active = letter === 'h';
    const end = text.slice(-TAIL_BYTES);
    const begun = end.lastIndexOf('\u001b');
    this.#tail = begun === -1 ? '' : end.slice(begun);
  }
}
