import { isDeepStrictEqual } from 'node:util';

/** Long values are cut in the report: their beginning is enough. */
const MAX_SHOWN_CHARS = 200;

/** The server answered, but not as the protocol requires. Any other error is a failure. */
export class Difference extends Error {
  override readonly name = 'Difference';
}

/** Requires two values to be deeply equal. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Difference(`${what}: ${shown(actual)} instead of ${shown(expected)}`);
}

/** Requires a condition. */
export function holds(what: string, condition: boolean): void {
  if (!condition) throw new Difference(what);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
