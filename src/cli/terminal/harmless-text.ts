const ESCAPE = '\u001b';
/** Colours and other text attributes only change how text looks. */
// eslint-disable-next-line no-control-regex
const ATTRIBUTES = /^\u001b\[[0-9;:]*m/;
/** A whole control sequence, or one that contains text, or one of two or three characters. */
const SEQUENCE =
  // eslint-disable-next-line no-control-regex
  /^\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\`-~])/;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/** A sequence longer than this is none. */
const MAX_SEQUENCE_CHARS = 64 * 1024;

/**
 * Removes what would do more to a terminal than show text: cursor movements, queries the terminal would answer as if
 * somebody typed, titles, clipboard access. Keeps colours, tabs and line ends. Takes text in pieces.
 */
export class HarmlessText {
  readonly #decoder = new TextDecoder();
  #pending = '';

  take(bytes: Uint8Array): string {
    const text = this.#pending + this.#decoder.decode(bytes, { stream: true });
    this.#pending = '';
    let shown = '';
    for (let at = 0; at < text.length; ) {
      const next = text.slice(at).search(CONTROL);
      if (next === -1) return shown + text.slice(at);
      shown += text.slice(at, at + next);
      at += next;
      if (text[at] !== ESCAPE) {
        at += 1;
        continue;
      }
      const rest = text.slice(at, at + MAX_SEQUENCE_CHARS);
      const whole = SEQUENCE.exec(rest)?.[0];
      if (whole === undefined && rest.length < MAX_SEQUENCE_CHARS) {
        this.#pending = rest;
        return shown;
      }
      if (ATTRIBUTES.test(rest)) shown += whole ?? '';
      at += whole?.length ?? 1;
    }
    return shown;
  }
}
