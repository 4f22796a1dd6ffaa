import type { LineSource } from './line-source.js';
import type { ReadResult } from './process.js';
import type { ExitedEvent, ProcessEvent } from './process-event.js';

/** Anything that can be read like a log. */
export interface ReadableLog {
  readonly nextSeq: number;
  readonly exit: ExitedEvent | undefined;
  readonly closed: boolean;
  /** The event after a position, or undefined if there is none yet. */
  next(afterSeq: number): ProcessEvent | undefined;
}

export interface ReadLimits {
  readonly afterSeq: number;
  /** What the reader asked for. */
  readonly maxBytes?: number | undefined;
  /** What it gets at most, whatever it asked for. */
  readonly capBytes?: number;
}

/** Output after a position, in the form `process/read` reports it. */
export function readLog(log: ReadableLog, limits: ReadLimits): ReadResult {
  const { afterSeq, maxBytes = Number.POSITIVE_INFINITY, capBytes = Number.POSITIVE_INFINITY } = limits;
  const chunks: ReadResult['chunks'][number][] = [];
  let position = afterSeq;
  let budget = Math.min(maxBytes, capBytes);
  let lostBytes = 0;
  let cut = false;
  for (let event = log.next(position); event !== undefined; event = log.next(position)) {
    position = positionAfter(event);
    if (event.type === 'gap') lostBytes += event.lostBytes;
    if (event.type !== 'output') continue;
    if (chunks.length > 0 && event.bytes.length > budget) {
      cut = true;
      break;
    }
    const { seq, stream, bytes } = event;
    chunks.push({ seq, stream, bytes, lostBytes });
    budget -= bytes.length;
    lostBytes = 0;
  }
  const limited = cut || (chunks.length > 0 && maxBytes !== Number.POSITIVE_INFINITY);
  return {
    chunks,
    nextSeq: limited ? (chunks.at(-1)?.seq ?? 0) + 1 : log.nextSeq,
    exited: log.exit !== undefined,
    exitCode: log.exit?.exitCode ?? null,
    closed: log.closed,
    sandboxDenied: log.exit?.sandboxDenied ?? false,
  };
}

/** A time, or so many milliseconds before now if it is negative. */
export function timeOf(sinceMs: number): number {
  return sinceMs < 0 ? Date.now() + sinceMs : sinceMs;
}

/** The position from which a reader sees only what came at a time or later. */
export function seqBefore(
  log: { readonly output: LineSource; readonly nextSeq: number },
  sinceMs: number,
): number {
  const offset = log.output.offsetSince(timeOf(sinceMs));
  return (log.output.chunkAt(offset)?.seq ?? log.nextSeq) - 1;
}

/** The position of a reader that has seen this event. */
export function positionAfter(event: ProcessEvent): number {
  return event.type === 'gap' ? event.beforeSeq - 1 : event.seq;
}
