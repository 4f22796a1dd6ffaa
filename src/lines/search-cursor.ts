import type { LineMark } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';

/** Where a search continues. */
export interface SearchPosition extends LineMark {
  /** In a line that was reported before it ended: its rest does not count. */
  readonly isInside: boolean;
}

export function shownCursor({ newlines, offset, isInside }: SearchPosition): string {
  return `${newlines}:${offset}${isInside ? ':inside' : ''}`;
}

/** Throws `invalidParams` for anything but a cursor of ours. */
export function parseCursor(cursor: string): SearchPosition {
  const [, newlines, offset, inside] = /^(\d{1,15}):(\d{1,15})(:inside)?$/.exec(cursor) ?? [];
  if (newlines === undefined || offset === undefined)
    throw new ExecError('invalidParams', 'params.cursor: not one that an earlier search returned');
  return { newlines: Number(newlines), offset: Number(offset), isInside: inside !== undefined };
}
