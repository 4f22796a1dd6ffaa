import type { FileOptions } from './file-system.js';

export interface SearchQuery extends FileOptions {
  /** The text to search for. */
  readonly pattern: string;
  /** Treat the pattern as a regular expression. Default false: literal text. */
  readonly regex?: boolean;
  /** Default true. */
  readonly caseSensitive?: boolean;
  /**
   * File name patterns with `*`, `**`, `?`, `[a-z]` and `{a,b}`, interpreted as by ripgrep. Without a slash they apply
   * at any depth, with one they are relative to the searched directory. A leading `!` excludes files. None: every file.
   * At most 16,384 characters in total.
   */
  readonly globs?: readonly string[];
  /** Include files and directories whose name starts with a dot. Default false. */
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
  /** Start of the first match in the line, in bytes from 1. */
  readonly column: number;
  /** The line without its line ending, truncated to 1,024 bytes. */
  readonly text: string;
  /** Whether the line is longer than `text`. */
  readonly cut: boolean;
}

export interface SearchPage {
  /** One per matching line, with files sorted by path. */
  readonly matches: readonly SearchMatch[];
  /** Pass this to get the next page; null on the last page. */
  readonly cursor: string | null;
}
