import type { OutputStream } from './process-event.js';

/** A place in the output of a process, and how many newlines come before it. */
export interface LineMark {
  /** Output bytes before it. */
  readonly offset: number;
  readonly newlines: number;
}

/** Where a chunk of output is and when it came. */
export interface ChunkPlace {
  readonly seq: number;
  /** Output bytes before this chunk. */
  readonly offset: number;
  /** Milliseconds since 1970. Never runs backwards within a log. */
  readonly timeMs: number;
  readonly stream: OutputStream;
}

/** A line by number, counted from 1, or the output before a byte. */
export type MarkRequest = { readonly line: number } | { readonly offset: number };

/** Output by position in bytes, in which lines are looked for. Nothing here throws: what cannot be read is gone. */
export interface LineSource {
  /** Output bytes so far, including those that are gone. */
  readonly totalBytes: number;
  /** Nothing will follow. */
  readonly closed: boolean;
  /**
   * Some bytes from an offset on: later ones, if those are gone, and none at the end. Their memory may be reused in the
   * next turn of the event loop, or by the next call.
   */
  bytesAt(
    offset: number,
    maxBytes: number,
  ): { readonly offset: number; readonly bytes: Uint8Array } | undefined;
  /** The chunk that contains a byte, or the first one behind it that is left. */
  chunkAt(offset: number): ChunkPlace | undefined;
  /** Where output from a time on begins. */
  offsetSince(timeMs: number): number;
  /** A place before what is wanted, as near as is known without reading; the oldest there is if that is later. */
  markBefore(wanted: MarkRequest): LineMark;
}
