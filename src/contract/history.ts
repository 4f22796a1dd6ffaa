import type { OutputStream, SignalName, TerminalSize } from './process-event.js';

/** Something that happened while a process ran. */
export type HistoryEvent =
  | {
      readonly type: 'output';
      readonly timeMs: number;
      readonly seq: number;
      readonly stream: OutputStream;
      readonly bytes: Uint8Array;
    }
  /** The terminal got another size. */
  | { readonly type: 'resize'; readonly timeMs: number; readonly size: TerminalSize }
  /** Output is missing here. */
  | { readonly type: 'gap'; readonly timeMs: number; readonly lostBytes: number };

/** How a history begins. `size` is null without a terminal. */
export interface HistoryStart {
  readonly startedAtMs: number;
  readonly tty: boolean;
  readonly size: TerminalSize | null;
}

/** How the process ended, and when. */
export interface HistoryEnd {
  readonly timeMs: number;
  /** 0-255 as the program returned it; 128 + n if signal n killed it. */
  readonly exitCode: number;
  readonly signal: SignalName | null;
  readonly timedOut: boolean;
}

/**
 * A process from its start to its end, in order. Times are milliseconds since 1970 and never run backwards. Without
 * `end`, the process was running at that moment, or its server did not live to see the end.
 */
export type HistoryEntry =
  | ({ readonly type: 'start'; readonly timeMs: number } & Omit<HistoryStart, 'startedAtMs'>)
  | HistoryEvent
  | ({ readonly type: 'end' } & HistoryEnd);

export interface HistoryOptions {
  /** Continue with new events until the process has closed. Default false: stop at the present. */
  readonly follow?: boolean;
}

/** A piece of a history. */
export interface HistoryPage extends HistoryStart {
  readonly events: readonly HistoryEvent[];
  /** Where the next piece begins. */
  readonly position: string;
  /** The number of the newest output at this moment. */
  readonly lastSeq: number;
  /** The process has closed, and nothing follows. */
  readonly complete: boolean;
  /** Null while it runs, and for good if its server did not live to see the end. */
  readonly end: HistoryEnd | null;
}

export interface HistoryRequest {
  /** The `position` of the piece before. Default: the beginning. */
  readonly position?: string | undefined;
  /** Stop after this many bytes of output, at the end of a chunk. At least one chunk is returned. */
  readonly maxBytes?: number | undefined;
  /** Wait up to this long for something new. Default 0. */
  readonly waitMs?: number | undefined;
}

/** Bytes per piece: large enough that pieces are few, small enough to hold in memory. */
const PAGE_BYTES = 512 * 1024;
/** A reader that waits for news asks again after this time, so that a lost connection shows. */
const FOLLOW_MS = 20_000;

/** Reads a history piece by piece. */
export async function* entriesOf(
  read: (request: HistoryRequest) => Promise<HistoryPage>,
  { follow = false }: HistoryOptions = {},
): AsyncGenerator<HistoryEntry, void> {
  let page = await read({ maxBytes: PAGE_BYTES });
  const { startedAtMs: timeMs, tty, size } = page;
  // A program that prints faster than we read would keep us for ever.
  const lastSeq = follow ? Number.POSITIVE_INFINITY : page.lastSeq;
  yield { type: 'start', timeMs, tty, size };
  for (;;) {
    for (const event of page.events) {
      if (event.type === 'output' && event.seq > lastSeq) return;
      yield event;
    }
    if (page.complete || (!follow && page.events.length === 0)) break;
    const { position } = page;
    page = await read({ position, maxBytes: PAGE_BYTES, ...(follow ? { waitMs: FOLLOW_MS } : {}) });
  }
  if (page.complete && page.end) yield { type: 'end', ...page.end };
}
