import type { ArchivedOutput, OutputStream } from '../contract/index.js';
import type { IndexEntry } from './index-entry.js';
import type { Place, SegmentReader } from './segment-reader.js';

/** The most positions remembered of output that is only on disk. */
const MAX_POINTS = 4096;

/** The end of a log on disk, for a log that continues it. */
export interface LogTail {
  /** Some positions before the tail, with the output up to each. */
  readonly points: readonly { readonly seq: number; readonly offset: number }[];
  /** The newest output, in order. */
  readonly tail: readonly ArchivedOutput[];
  /** Output that was not delivered and has no number yet. */
  readonly unentered: { readonly stream: OutputStream; readonly bytes: Uint8Array } | null;
}

/** The newest chunks, up to this many bytes, and positions before them. */
export function tailOf(
  reader: SegmentReader,
  maxBytes: number,
): Pick<LogTail, 'points' | 'tail'> & {
  readonly last: { readonly entry: IndexEntry; readonly bytes: Uint8Array } | undefined;
} {
  const tail: ArchivedOutput[] = [];
  let bytes = 0;
  let place = lastPlace(reader);
  const lastEntry = place && reader.entryAt(place);
  for (; place; place = reader.before(place)) {
    const entry = reader.entryAt(place);
    if (!entry) break;
    if (entry.kind === 'resize') continue;
    if (tail.length > 0 && bytes + entry.length > maxBytes) break;
    const output = reader.output(place);
    if (!output) break;
    const { seq, offset, timeMs, stream } = output;
    tail.unshift({ seq, offset, timeMs, stream, bytes: new Uint8Array(output.bytes) });
    bytes += entry.length;
  }
  const last = lastEntry && { entry: lastEntry, bytes: newestBytes(lastEntry, tail) };
  return { points: pointsBefore(reader, place), tail, last };
}

function newestBytes(entry: IndexEntry, tail: readonly ArchivedOutput[]): Uint8Array {
  return entry.kind === 'resize' ? new Uint8Array(0) : (tail.at(-1)?.bytes ?? new Uint8Array(0));
}

function lastPlace({ segments }: SegmentReader): Place | undefined {
  const segment = segments.length - 1;
  const entries = segments[segment]?.entries ?? 0;
  return entries > 0 ? { segment, entry: entries - 1 } : undefined;
}

function pointsBefore(reader: SegmentReader, end: Place | undefined): { seq: number; offset: number }[] {
  if (!end) return [];
  const count = reader.segments.reduce((sum, { entries }) => sum + entries, 0);
  const step = Math.ceil(count / MAX_POINTS);
  const points: { seq: number; offset: number }[] = [];
  for (const [segment, { entries }] of reader.segments.slice(0, end.segment + 1).entries()) {
    const stop = segment === end.segment ? end.entry : entries - 1;
    for (let entry = stop % step; entry <= stop; entry += step) {
      const found = reader.entryAt({ segment, entry });
      if (found) points.push({ seq: found.seq, offset: found.offset + found.length });
    }
  }
  return points;
}
