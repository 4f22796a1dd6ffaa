import type { HistoryPage, HistoryRequest } from './history.js';
import type { LineMark, LineSource, MarkRequest } from './line-source.js';
import type { ExitedEvent, OutputStream, TerminalSize } from './process-event.js';

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
 * methods throws, except for an invalid position: what an archive cannot keep is missing from it, and the log reports a gap.
 */
export interface LogArchive extends Pick<LineSource, 'bytesAt' | 'chunkAt'> {
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
  /** As in a `LineSource`, but undefined if none of it is left. */
  offsetSince(timeMs: number): number | undefined;
  markBefore(wanted: MarkRequest): LineMark | undefined;
  /** The newlines in everything it was given, kept or not, up to some offset that memory still holds. */
  readonly counted: LineMark;
  /** It will not be read through this log again. */
  release(): void;
  /** The process never started: nothing of it is kept. */
  discard(): void;
}
