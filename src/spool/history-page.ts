import { type HistoryEvent, type HistoryPage, MAX_ARCHIVED_READ_BYTES } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import type { ProcessFacts } from './process-facts.js';
import type { Place, SegmentReader } from './segment-reader.js';

/** The most events per page, because an event costs more than its bytes. */
const MAX_EVENTS = 4096;

/** The position of a reader. A resize has the number of the output before it, so resizes are counted in addition. */
interface Position {
  readonly seq: number;
  /** Resizes seen after that output. */
  readonly resizes: number;
  /** Output bytes up to here, which tells how many were deleted in the meantime. */
  readonly offset: number;
}

export interface HistorySource {
  readonly reader: SegmentReader;
  readonly facts: ProcessFacts;
  readonly lastSeq: number;
  /** The total output, if known. What could not be written is reported as lost. */
  readonly totalBytes?: number;
}

/** The part of a history after a position. */
export function historyPage(
  { reader, facts, lastSeq, totalBytes = 0 }: HistorySource,
  request: { readonly position?: string | undefined; readonly maxBytes?: number | undefined },
): HistoryPage {
  const { startedAtMs, tty, size, end } = facts;
  const budget = Math.min(request.maxBytes ?? MAX_ARCHIVED_READ_BYTES, MAX_ARCHIVED_READ_BYTES);
  const events: HistoryEvent[] = [];
  let { seq, resizes, offset } = parsePosition(request.position);
  let bytes = 0;
  let place = firstUnseen(reader, { seq, resizes, offset });
  for (; place && events.length < MAX_EVENTS; place = reader.behind(place)) {
    const entry = reader.entryAt(place);
    if (!entry) break;
    if (bytes > 0 && bytes + entry.length > budget) break;
    const { timeMs } = entry;
    if (entry.offset > offset) events.push({ type: 'gap', timeMs, lostBytes: entry.offset - offset });
    offset = entry.offset + entry.length;
    resizes = entry.kind === 'resize' ? (entry.seq === seq ? resizes + 1 : 1) : 0;
    seq = entry.seq;
    if (entry.size) events.push({ type: 'resize', timeMs, size: entry.size });
    const output = entry.kind === 'resize' ? undefined : reader.output(place);
    if (output) events.push({ type: 'output', timeMs, seq, stream: output.stream, bytes: output.bytes });
    bytes += entry.length;
  }
  const atEnd = !place || !reader.entryAt(place);
  if (atEnd && totalBytes > offset) {
    events.push({ type: 'gap', timeMs: end?.exitedAtMs ?? Date.now(), lostBytes: totalBytes - offset });
    offset = totalBytes;
  }
  return {
    startedAtMs,
    tty,
    size,
    events,
    position: `${seq}.${resizes}.${offset}`,
    lastSeq,
    complete: atEnd && end?.closedSeq != null,
    end: end && {
      timeMs: end.exitedAtMs,
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: end.timedOut,
    },
  };
}

function firstUnseen(reader: SegmentReader, { seq, resizes }: Position): Place | undefined {
  let place = reader.find((entry) => entry.seq >= seq);
  for (let left = resizes; place; place = reader.behind(place)) {
    const entry = reader.entryAt(place);
    if (!entry || entry.seq > seq) break;
    if (entry.kind !== 'resize') continue;
    if (left === 0) break;
    left -= 1;
  }
  return place;
}

function parsePosition(text: string | undefined): Position {
  if (text === undefined) return { seq: 0, resizes: 0, offset: 0 };
  const found = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (!found) throw new ExecError('invalidParams', 'params.position: pass the position of an earlier answer');
  const [, seq, resizes, offset] = found;
  return { seq: Number(seq), resizes: Number(resizes), offset: Number(offset) };
}
