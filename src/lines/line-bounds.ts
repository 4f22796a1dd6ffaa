/** Content of one answer. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** Lines of one answer. */
export const MAX_LINES = 10_000;
export const DEFAULT_MATCHES = 200;
const MAX_LINE_BYTES = 64 * 1024;
const DEFAULT_LINE_BYTES = 4096;
/** Searched for one answer, so that each comes before long. */
export const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** Values out of bounds are brought within them. */
export function within(
  value: number | undefined,
  { normal, most }: { normal: number; most: number },
): number {
  return Math.min(most, Math.max(1, value ?? normal));
}

export function lineBytes(value: number | undefined): number {
  return within(value, { normal: DEFAULT_LINE_BYTES, most: MAX_LINE_BYTES });
}
