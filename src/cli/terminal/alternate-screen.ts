const ESCAPE = 0x1b;
/** The sequences different terminals use to enter and leave it. */
// eslint-disable-next-line no-control-regex
const SWITCH = /\u001b\[\?(?:1049|1047|47)([hl])/g;
/** One byte less than the longest sequence: its beginning may be at the end of a chunk. */
const TAIL_BYTES = 7;

/** Watches output to know whether a full-screen program is using the terminal. */
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
