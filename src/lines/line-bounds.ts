/** The most content in one answer. */
export const MAX_ANSWER_BYTES = 1024 * 1024;
/** The most lines in one answer. */
export const MAX_LINES = 10_000;
export const DEFAULT_MATCHES = 200;
const MAX_LINE_BYTES = 64 * 1024;
const DEFAULT_LINE_BYTES = 4096;
/** The most output searched for one answer, so that it does not take long. */
export const MAX_SEARCHED_BYTES = 64 * 1024 * 1024;

/** Clamps a value to bounds. */
export function within(
  value: number | undefined,
  { normal, most }: { normal: number; most: number },
): number {
  return Math.min(most, Math.max(1, value ?? normal));
}

export function lineBytes(value: number | undefined): number {
  return within(value, { normal: DEFAULT_LINE_BYTES, most: MAX_LINE_BYTES });
}
