import type { ChunkPlace, LineMark, MarkRequest } from '../contract/index.js';
import type { Segment } from './segment.js';
import type { Place, SegmentReader } from './segment-reader.js';

/** Output from an offset on, or the first that is left after it. The next read reuses its memory. */
export function bytesAt(
  reader: SegmentReader,
  offset: number,
  maxBytes: number,
): { offset: number; bytes: Uint8Array } | undefined {
  const found = rangeAt(reader.segments, offset, maxBytes);
  return found && { offset: found.offset, bytes: reader.raw(found.segment, found.at, found.length) };
}

/** The position of such output in the data of a segment. */
export function rangeAt(
  segments: readonly Segment[],
  offset: number,
  maxBytes: number,
): { segment: Segment; at: number; length: number; offset: number } | undefined {
  const segment = segments.find(({ first, dataBytes }) => first.offset + dataBytes > offset);
  if (!segment) return undefined;
  const from = Math.max(offset, segment.first.offset);
  const at = from - segment.first.offset;
  return { segment, at, length: Math.min(maxBytes, segment.dataBytes - at), offset: from };
}

/** The chunk that contains a byte, or the first one after it. */
export function chunkAt(reader: SegmentReader, offset: number): ChunkPlace | undefined {
  return chunkFrom(
    reader,
    reader.find((entry) => entry.offset + entry.length > offset),
  );
}

/** The offset where output since a time begins. */
export function offsetSince(reader: SegmentReader, timeMs: number): number | undefined {
  return chunkFrom(
    reader,
    reader.find((entry) => entry.timeMs >= timeMs),
  )?.offset;
}

function chunkFrom(reader: SegmentReader, from: Place | undefined): ChunkPlace | undefined {
  for (let place = from; place; place = reader.behind(place)) {
    const entry = reader.entryAt(place);
    if (!entry) return undefined;
    const { kind: stream, seq, offset, timeMs } = entry;
    if (stream !== 'resize') return { seq, offset, timeMs, stream };
  }
  return undefined;
}

/** The last entry before a line or at an offset; the oldest one if all are later. */
export function markBefore(reader: SegmentReader, wanted: MarkRequest): LineMark | undefined {
  const oldest = reader.segments[0]?.first;
  if (!oldest) return undefined;
  const { newlines } = oldest;
  // Written by a version without line numbers: count from what is left.
  if (newlines === null) return { offset: oldest.offset, newlines: 0 };
  const isBehind =
    'line' in wanted
      ? (entry: { newlines: number | null }) => (entry.newlines ?? 0) >= wanted.line - 1
      : (entry: { offset: number }) => entry.offset > wanted.offset;
  const behind = reader.find(isBehind);
  const place = behind ? reader.before(behind) : lastPlace(reader);
  const entry = place && reader.entryAt(place);
  return { offset: entry?.offset ?? oldest.offset, newlines: entry?.newlines ?? newlines };
}

function lastPlace({ segments }: SegmentReader): Place | undefined {
  const last = segments.at(-1);
  return last && { segment: segments.length - 1, entry: last.entries - 1 };
}
