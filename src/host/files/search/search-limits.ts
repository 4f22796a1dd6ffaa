import { ExecError } from '../../../protocol/errors.js';
import type { SearchQuery } from '../../../contract/index.js';

/** Matches per page: the default and the maximum. */
const DEFAULT_MATCHES = 200;
const MAX_MATCHES = 10_000;

/** Total text of the matches on a page, so that it fits a message. */
export const MAX_PAGE_BYTES = 1024 * 1024;

/** Longer lines are truncated in the answer: a minified file would fill a page with one match. */
export const MAX_LINE_BYTES = 1024;

/** Larger files are not searched: they are data, not text written by people. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** Longer than anyone writes; matching time is proportional to it. */
const MAX_PATTERN_CHARACTERS = 64 * 1024;

/** All globs of a search together: every name is matched against all of them. */
const MAX_GLOB_CHARACTERS = 16 * 1024;

export interface SearchBounds {
  /** Matches before the page, from its cursor. */
  readonly skip: number;
  readonly maxMatches: number;
}

/** Throws if the query cannot be run. */
export function boundsOf(query: SearchQuery): SearchBounds {
  const maxMatches = query.maxMatches ?? DEFAULT_MATCHES;
  if (!Number.isInteger(maxMatches) || maxMatches < 1 || maxMatches > MAX_MATCHES)
    throw new ExecError('invalidLimit', `maxMatches must be between 1 and ${MAX_MATCHES}`);
  if (query.pattern.length === 0 || /[\0\n\r]/.test(query.pattern))
    throw new ExecError('invalidParams', 'The pattern must be a single line and not empty.');
  if (query.pattern.length > MAX_PATTERN_CHARACTERS)
    throw new ExecError('invalidParams', `The pattern is longer than ${MAX_PATTERN_CHARACTERS} characters.`);
  if ((query.globs ?? []).reduce((sum, glob) => sum + glob.length, 0) > MAX_GLOB_CHARACTERS)
    throw new ExecError(
      'invalidParams',
      `Together the globs are longer than ${MAX_GLOB_CHARACTERS} characters.`,
    );
  if (query.globs?.some((glob) => glob.includes('\0')) === true)
    throw new ExecError('invalidParams', 'A glob contains a NUL character.');
  const cursor = query.cursor ?? '0';
  if (!/^\d{1,9}$/.test(cursor))
    throw new ExecError('invalidParams', 'The cursor does not come from an earlier answer.');
  return { skip: Number(cursor), maxMatches };
}
