import { ExecError } from '../../../protocol/errors.js';
import type { SearchQuery } from '../../../contract/index.js';

/** What one page holds unless asked otherwise, and at most. */
const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 10_000;

/** Text of all matches of a page together, so that a page fits a message. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** A longer line is cut in the answer: minified files would fill a page with one match. */
export const MAX_LINE_BYTES = 1024;

/** Files larger than this are not searched: they are data, not text somebody wrote. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Longer than anybody writes; matching takes time in proportion to it. */
const MAX_PATTERN_CHARACTERS = 64 * 1024;

/** All globs of a search together: every name is held against all of them. */
const MAX_GLOB_CHARACTERS = 16 * 1024;

export interface SearchBounds {
  /** Matches before the page, from its cursor. */
  readonly skip: number;
  readonly maxMatches: number;
}

/** Throws for a query that cannot be run. */
export function boundsOf(query: SearchQuery): SearchBounds {
  const maxMatches = query.maxMatches ?? DEFAULT_MATCHES;
  if (!Number.isInteger(maxMatches) || maxMatches < 1 || maxMatches > MAX_MATCHES)
    throw new ExecError('invalidLimit', `maxMatches must be between 1 and ${MAX_MATCHES}`);
  if (query.pattern.length === 0 || /[\0\n\r]/.test(query.pattern))
    throw new ExecError('invalidParams', 'The pattern must be one line and not empty.');
  if (query.pattern.length > MAX_PATTERN_CHARACTERS)
    throw new ExecError('invalidParams', `The pattern is longer than ${MAX_PATTERN_CHARACTERS} characters.`);
  if ((query.globs ?? []).reduce((sum, glob) => sum + glob.length, 0) > MAX_GLOB_CHARACTERS)
    throw new ExecError(
      'invalidParams',
      `The globs are longer than ${MAX_GLOB_CHARACTERS} characters together.`,
    );
  if (query.globs?.some((glob) => glob.includes('\0')) === true)
    throw new ExecError('invalidParams', 'A glob contains a NUL character.');
  const cursor = query.cursor ?? '0';
  if (!/^\d{1,9}$/.test(cursor)) throw new ExecError('invalidParams', 'The cursor is not one of ours.');
  return { skip: Number(cursor), maxMatches };
}
