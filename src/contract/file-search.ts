import type { FileOptions } from './file-system.js';

export interface SearchQuery extends FileOptions {
  /** What to look for. */
  readonly pattern: string;
  /** Take the pattern as a regular expression; default false: as it stands. */
  readonly regex?: boolean;
  /** Default true. */
  readonly caseSensitive?: boolean;
  /**
   * File name patterns with `*`, `**`, `?`, `[a-z]` and `{a,b}`, as ripgrep reads them. Without a slash they apply at any
   * depth, with one they start at the searched directory. One with a leading `!` leaves files out. None: every file. All
   * together have at most 16,384 characters.
   */
  readonly globs?: readonly string[];
  /** Look into files and directories whose name starts with a dot. Default false. */
  readonly hidden?: boolean;
  /** Matches per page. Default 200, at most 10,000. */
  readonly maxMatches?: number;
  /** Continue after an earlier page of the same query. */
  readonly cursor?: string | null;
  /** Ends the search. */
  readonly signal?: AbortSignal;
}

export interface SearchMatch {
  readonly path: string;
  /** Counts from 1. */
  readonly line: number;
  /** Where the first match in the line starts, in bytes from 1. */
  readonly column: number;
  /** The line without its end, cut at 1,024 bytes. */
  readonly text: string;
  /** The line is longer than `text`. */
  readonly cut: boolean;
}

export interface SearchPage {
  /** One per matching line, files in order of their path. */
  readonly matches: readonly SearchMatch[];
  /** Pass it to get the next page; null when this was the last. */
  readonly cursor: string | null;
}
