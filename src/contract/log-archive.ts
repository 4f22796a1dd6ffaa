import type { HistoryPage, HistoryRequest } from './history.js';
import type { ExitedEvent, OutputStream, TerminalSize } from './process.js';

/** A chunk of output with its place in the log. */
export interface ArchivedOutput {
  readonly seq: number;
  /** Output bytes before this chunk. */
  readonly offset: number;
  /** Milliseconds since 1970. Never runs backwards within a log. */
  readonly timeMs: number;
  readonly stream: OutputStream;
  readonly bytes: Uint8Array;
}

/**
 * Where a log puts its output besides its own memory, so that readers find what memory no longer holds. None of its
 * methods throws, except for a position that is none: what an archive cannot keep is missing from it, and the log reports a gap.
 */
export interface LogArchive {
  /** The log keeps this many of its newest bytes in memory; see `append`. */
  startWith(options: { readonly retainedBytes: number }): void;
  /** Takes a chunk. Its memory may be reused once it is older than what the log retains. */
  append(output: ArchivedOutput): void;
  resized(size: TerminalSize, timeMs: number): void;
  exited(event: ExitedEvent, timeMs: number): void;
  closed(seq: number, timeMs: number): void;
  /** The first chunk after a position that is still there. */
  after(seq: number): ArchivedOutput | undefined;
  /** What happened behind a position, with times. Waits for nothing. */
  history(request: HistoryRequest): HistoryPage;
  /** Nobody will read it through this log again. */
  release(): void;
  /** The process never came to be: nothing of it is kept. */
  discard(): void;
}
