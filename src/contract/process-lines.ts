import type { OutputStream } from './process-event.js';

/** A line of output. Streams share their lines, as on a terminal. */
export interface OutputLine {
  /** Counted from 1 over everything the process has printed, whether or not it is still there. */
  readonly line: number;
  /** The log entry it begins in. */
  readonly seq: number;
  /** Output bytes before it. */
  readonly offset: number;
  /** When it began, in milliseconds since 1970. */
  readonly timeMs: number;
  /** The stream it begins on. */
  readonly stream: OutputStream;
  /** As printed, without the line ending. */
  readonly bytes: Uint8Array;
  /** The same as text. */
  readonly text: string;
  /** The line is longer than this. */
  readonly cut: boolean;
}

/** Output that is no longer available. */
export interface OutputGap {
  /** The line that continues or begins after it. */
  readonly beforeLine: number;
  readonly lostBytes: number;
}

/** The state of the output when it was looked at. */
export interface LinesState {
  /** What is missing from the part that was searched. Empty: nothing. */
  readonly gaps: readonly OutputGap[];
  /** No more output will come. */
  readonly closed: boolean;
  /** Why there will be no end, for output of a server that was killed; null otherwise. */
  readonly failure: string | null;
}

/** What to return of each line. */
export interface LineOptions {
  /**
   * Only output from this time on, in milliseconds since 1970; negative: before now, by the machine's clock. A line
   * counts if its first byte does.
   */
  readonly sinceMs?: number;
  /** Longer lines are cut. 1 to 65,536; default 4,096. */
  readonly maxLineBytes?: number;
  /** Wait up to this long for something to return. An unfinished last line is then left for later. Default 0. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface LinesRequest extends LineOptions {
  /** The first line; negative: counted from the end, -1 being the last. Default 1. */
  readonly from?: number;
  /** The last line, counted likewise. Default -1. */
  readonly to?: number;
}

export interface LinesPage extends LinesState {
  readonly lines: readonly OutputLine[];
  /** Lines so far, including those that are gone. */
  readonly totalLines: number;
  /** Where to continue if the answer would have been too large; null if these are all. */
  readonly nextLine: number | null;
}

export interface OutputSearch extends LineOptions {
  /** Text, or a regular expression without back references and lookaround. It ignores colours. */
  readonly pattern: string;
  /** Default false: plain text. */
  readonly regex?: boolean;
  /** Default true. */
  readonly caseSensitive?: boolean;
  /** Continues where an earlier search ended; `sinceMs` is then without effect. */
  readonly cursor?: string;
  /** 1 to 10,000; default 200. */
  readonly maxMatches?: number;
}

export interface OutputMatches extends LinesState {
  readonly matches: readonly OutputLine[];
  /** Continues the search, also in what is printed later. */
  readonly cursor: string;
  /** All available output has been searched. */
  readonly atEnd: boolean;
}
