import { stat } from 'node:fs/promises';
import type { SearchMatch, SearchPage, SearchQuery } from '../../../contract/index.js';
import { throwIfAborted } from '../access/abort.js';
import { shownPath, trustedProgram } from '../../kernel/index.js';
import { ripgrepMatches } from './ripgrep.js';
import { scanMatches } from './scan.js';
import { boundsOf, MAX_LINE_BYTES, MAX_PAGE_BYTES, type SearchBounds } from './search-limits.js';

/** A matching line as a searcher finds it; bytes, since neither paths nor lines need be text. */
export interface RawMatch {
  readonly path: Buffer;
  readonly line: number;
  readonly column: number;
  /** At least the first MAX_LINE_BYTES of the line. */
  readonly text: Buffer;
}

/** Uses ripgrep if there is a trusted one, otherwise our own slower scan. */
export async function search(root: Buffer, query: SearchQuery): Promise<SearchPage> {
  const bounds = boundsOf(query);
  throwIfAborted(query.signal);
  await stat(root);
  // Program arguments are text here, so a path that is not needs our own scan.
  const isText = shownPath(root).startsWith('/');
  const searcher = isText && trustedProgram('rg') !== null ? ripgrepMatches : scanMatches;
  return collectPage(searcher(root, query), bounds, query.signal);
}

/** Leaving the loop ends the searcher, and with it the program it may run. */
async function collectPage(
  found: AsyncIterable<RawMatch>,
  bounds: SearchBounds,
  signal: AbortSignal | undefined,
): Promise<SearchPage> {
  const matches: SearchMatch[] = [];
  let seen = 0;
  let bytes = 0;
  for await (const match of found) {
    if (signal?.aborted === true) break;
    seen += 1;
    if (seen <= bounds.skip) continue;
    if (matches.length === bounds.maxMatches || bytes > MAX_PAGE_BYTES)
      return { matches, cursor: String(seen - 1) };
    const shown = shownMatch(match);
    bytes += shown.text.length + shown.path.length;
    matches.push(shown);
  }
  throwIfAborted(signal);
  return { matches, cursor: null };
}

function shownMatch(match: RawMatch): SearchMatch {
  const cut = match.text.length > MAX_LINE_BYTES;
  return {
    path: shownPath(match.path),
    line: match.line,
    column: match.column,
    text: match.text.subarray(0, MAX_LINE_BYTES).toString(),
    cut,
  };
}
