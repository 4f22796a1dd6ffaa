/** Invisible characters that change the direction of text. They have no width, so removing them moves nothing. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Noncharacters, which are not allowed in XML. */
const NO_CHARACTERS = /[\ufffe\uffff]/g;
/** Characters drawn on top of the previous one. */
const DRAWN_ON = /[\p{M}\p{Cf}]+/gu;
const ENDS_DRAWN_ON = /[\p{M}\p{Cf}]+$/u;
/** Enough for every script. Without a limit, a cell could fill the memory. */
const MAX_DRAWN_ON = 16;
// eslint-disable-next-line no-control-regex
const ONLY_ASCII = /^[\u0000-\u007f]*$/;

/** Removes characters that change the direction of text, and those that exceed a limit per cell. */
export class ZeroWidthLimit {
  /** How many are on the last cell so far. */
  #carried = 0;

  limit(text: string): string {
    if (ONLY_ASCII.test(text)) {
      if (text !== '') this.#carried = 0;
      return text;
    }
    const carried = this.#carried;
    const limited = text
      .replace(DIRECTIONS, '')
      .replace(NO_CHARACTERS, '\ufffd')
      .replace(DRAWN_ON, (run, offset: number) => {
        const room = MAX_DRAWN_ON - (offset === 0 ? carried : 0);
        const kept = Array.from(run.slice(0, 2 * MAX_DRAWN_ON));
        return kept.slice(0, Math.max(0, room)).join('');
      });
    if (limited === '') return limited;
    const tail = ENDS_DRAWN_ON.exec(limited.slice(-2 * MAX_DRAWN_ON))?.[0] ?? '';
    this.#carried = Array.from(tail).length + (tail.length === limited.length ? carried : 0);
    return limited;
  }
}
