import type { ArchivedOutput } from './log-archive.js';
import type { ExitedEvent } from './process-event.js';
import type { LogEntry } from './retained-entries.js';

/** What is known of a log that another server began. */
export interface ResumedLog {
  readonly startMs: number;
  /** Numbers of output that only the archive has, each with the output up to it. */
  readonly points: readonly { readonly seq: number; readonly offset: number }[];
  /** The newest output, in order. */
  readonly tail: readonly ArchivedOutput[];
  readonly exited: { readonly event: ExitedEvent; readonly offset: number } | null;
  readonly closedSeq: number | null;
}

/** Its entries, in order. */
export function resumedEntries({ tail, exited, closedSeq, startMs }: ResumedLog): LogEntry[] {
  const entries: LogEntry[] = tail.map(({ seq, offset, timeMs, stream, bytes }) => ({
    event: { type: 'output', seq, stream, bytes },
    seq,
    offset,
    bytes: bytes.length,
    ageMs: Math.max(0, timeMs - startMs),
  }));
  const last = entries.at(-1);
  const end = Math.max(last ? last.offset + last.bytes : 0, exited?.offset ?? 0);
  const ageMs = last?.ageMs ?? 0;
  if (exited) {
    const { event, offset } = exited;
    entries.push({ event, seq: event.seq, offset, bytes: 0, ageMs });
  }
  if (closedSeq !== null)
    entries.push({ event: { type: 'closed', seq: closedSeq }, seq: closedSeq, offset: end, bytes: 0, ageMs });
  return entries.sort((a, b) => a.seq - b.seq);
}
