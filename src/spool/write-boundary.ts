/**
 * Writes of a flood end at multiples of this within their file. The page cache then has a few large pieces instead of many
 * small ones, which saves up to half the cost of writing. Larger ones would save little more, and more would be lost with the
 * server.
 */
export const BOUNDARY_BYTES = 512 * 1024;
/** Longer chunks are not split, because the log may discard them while a part of them waits. */
const MAX_DIVIDED_BYTES = 64 * 1024;

/** How many chunks are written completely, and how much of the next one. */
export interface Cut {
  readonly whole: number;
  readonly part: number;
}

/** Where to cut chunks that begin at `start` in their file so that they end at a boundary; after all of them if there is none. */
export function cutAtBoundary(chunks: readonly { readonly length: number }[], start: number): Cut {
  const uncut = { whole: chunks.length, part: 0 };
  const end = chunks.reduce((sum, { length }) => sum + length, start);
  const boundary = end - (end % BOUNDARY_BYTES);
  let whole = chunks.length;
  let wholeEnd = end;
  while (wholeEnd > boundary && whole > 0) {
    whole -= 1;
    wholeEnd -= chunks[whole]?.length ?? 0;
  }
  const divided = chunks[whole]?.length ?? 0;
  return whole === 0 || divided > MAX_DIVIDED_BYTES ? uncut : { whole, part: boundary - wholeEnd };
}
