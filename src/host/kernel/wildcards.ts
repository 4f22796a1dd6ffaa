/** In a pattern: any number of characters, also none. */
export const MANY = Symbol('many');

/**
 * Whether a text fits a pattern, one part of it after the other. Where it does not, the last `MANY` takes one character more:
 * earlier ones never need to. So it takes no longer than both lengths multiplied, whoever chose pattern and text; a regular
 * expression with many of them could keep the server busy for ever.
 */
export function fitsPattern<Part>(
  pattern: readonly (Part | typeof MANY)[],
  text: ArrayLike<string>,
  isOne: (part: Part, character: string) => boolean,
): boolean {
  let part = 0;
  let at = 0;
  let many = -1;
  let taken = 0;
  while (at < text.length) {
    const wanted = pattern[part];
    if (wanted === MANY) {
      many = part;
      taken = at;
      part += 1;
    } else if (wanted !== undefined && isOne(wanted, text[at] ?? '')) {
      part += 1;
      at += 1;
    } else if (many >= 0) {
      taken += 1;
      part = many + 1;
      at = taken;
    } else return false;
  }
  return pattern.slice(part).every((rest) => rest === MANY);
}
