/** Code points from `[0]` up to and including `[1]`. */
export type CodeRange = readonly [number, number];

const MAX_CODE = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
/** Sets with more non-ASCII characters than this match only the case they are written in: folding each would take too long. */
const MAX_FOLDED = 1024;

export const DIGITS: readonly CodeRange[] = [[0x30, 0x39]];
export const WORD: readonly CodeRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const SPACE: readonly CodeRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/** Sorts and merges ranges, and removes surrogates, which are not characters. */
export function normalized(ranges: readonly CodeRange[]): CodeRange[] {
  const sorted = ranges.flatMap(withoutSurrogates).sort((a, b) => a[0] - b[0]);
  const result: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = result.at(-1);
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

export function inverted(ranges: readonly CodeRange[]): CodeRange[] {
  const result: CodeRange[] = [];
  let next = 0;
  for (const [from, to] of normalized(ranges)) {
    if (from > next) result.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= MAX_CODE) result.push([next, MAX_CODE]);
  return normalized(result);
}

/** The same characters in either case. */
export function withBothCases(ranges: readonly CodeRange[]): CodeRange[] {
  const more: CodeRange[] = [...ranges];
  for (const [from, to] of ranges) {
    const last = to - from < MAX_FOLDED ? to : Math.min(to, 0x7f);
    for (let code = from; code <= last; code += 1) {
      const character = String.fromCodePoint(code);
      for (const other of [character.toLowerCase(), character.toUpperCase()]) {
        const folded = other.codePointAt(0) ?? code;
        if (String.fromCodePoint(folded) === other) more.push([folded, folded]);
      }
    }
  }
  return normalized(more);
}

function withoutSurrogates([from, to]: CodeRange): CodeRange[] {
  if (to < FIRST_SURROGATE || from > LAST_SURROGATE) return [[from, to]];
  return [
    ...(from < FIRST_SURROGATE ? [[from, FIRST_SURROGATE - 1] as const] : []),
    ...(to > LAST_SURROGATE ? [[LAST_SURROGATE + 1, to] as const] : []),
  ];
}
