import type { LineMark } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';

/** The position where a search continues. */
export interface SearchPosition extends LineMark {
  /** Whether it is inside a line that was reported before it ended; the rest of that line does not count. */
  readonly isInside: boolean;
}

export function shownCursor({ newlines, offset, isInside }: SearchPosition): string {
  return `${newlines}:${offset}${isInside ? ':inside' : ''}`;
}

/** Parses a cursor. Throws `invalidParams` if it is not one of ours. */
export function parseCursor(cursor: string): SearchPosition {
  const [, newlines, offset, inside] = /^(\d{1,15}):(\d{1,15})(:inside)?$/.exec(cursor) ?? [];
  if (newlines === undefined || offset === undefined)
    throw new ExecError('invalidParams', 'params.cursor: not one that an earlier search returned');
  return { newlines: Number(newlines), offset: Number(offset), isInside: inside !== undefined };
}
