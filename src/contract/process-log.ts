import { ExecError } from '../protocol/errors.js';
import type { HistoryPage, HistoryRequest } from './history.js';
import type { LineSource } from './line-source.js';
import type { ArchivedOutput, LogArchive } from './log-archive.js';
import { LogClock } from './log-clock.js';
import { type LogHold, LogHolds } from './log-holds.js';
import { awaitNews } from './log-news.js';
import { LogOutput } from './log-output.js';
import type { ExitFacts } from './process-end.js';
import type { ReadResult } from './process.js';
import type { ExitedEvent, OutputStream, ProcessEvent, TerminalSize } from './process-event.js';
import { type ResumedLog, resumedEntries } from './resumed-log.js';
import { type LogEntry, RetainedEntries } from './retained-entries.js';
import { readLog } from './read-log.js';

/** Output kept per process for late readers. The same as Codex's. */
export const DEFAULT_RETAINED_BYTES = 1024 * 1024;
/** Unread output that may accumulate for a holding reader before the source is paused. */
export const DEFAULT_WINDOW_BYTES = 1024 * 1024;
/** Most that one read returns of a log with an archive, which may hold far more than fits into a message. */
export const MAX_ARCHIVED_READ_BYTES = 4 * 1024 * 1024;

export interface ProcessLogOptions {
  readonly retainedBytes?: number;
  readonly windowBytes?: number;
  /** Called when the unread output of a holding reader exceeds the window, and again once it has drained. */
  readonly onPressure?: (paused: boolean) => void;
  /** Called with output the log has discarded. Its memory may be reused unless something else holds it. */
  readonly onEvicted?: (bytes: Uint8Array) => void;
  /** Also gets everything appended, and is asked for what memory no longer holds. */
  readonly archive?: LogArchive | undefined;
  /** A slow reader is served from the archive: its hold neither pauses the source nor keeps output in memory. */
  readonly spills?: boolean | undefined;
  /** Continues a log that another server began, whose archive this has. */
  readonly resumed?: ResumedLog | undefined;
}

/**
 * The log of one process. Output, exit and close are numbered here and nowhere else, and every consumer is a position
 * in it. Keeps a bounded tail, and everything after the slowest hold; an archive continues it on disk.
 */
export class ProcessLog {
  readonly #entries: RetainedEntries;
  readonly #archive: LogArchive | undefined;
  /** Whether holds are without effect, because the archive serves slow readers. */
  readonly spills: boolean;
  readonly #listeners = new Set<() => void>();
  readonly #holds: LogHolds;
  readonly #clock = new LogClock();
  #nextSeq = 1;
  #totalBytes = 0;
  #exited: { readonly event: ExitedEvent; readonly offset: number } | undefined;
  #closed = false;
  #failure: Error | undefined;
  #output: LogOutput | undefined;

  constructor(options: ProcessLogOptions = {}) {
    const { retainedBytes: limitBytes = DEFAULT_RETAINED_BYTES, onEvicted } = options;
    this.#entries = new RetainedEntries({ limitBytes, onEvicted });
    this.#archive = options.archive;
    this.spills = options.spills === true && options.archive !== undefined;
    this.#archive?.startWith({ retainedBytes: limitBytes });
    this.#holds = new LogHolds({
      windowBytes: options.windowBytes ?? DEFAULT_WINDOW_BYTES,
      ignored: this.spills,
      offsetAfter: (seq) => this.#offsetAfter(seq),
      totalBytes: () => this.#totalBytes,
      onPressure: options.onPressure ?? (() => undefined),
      onMoved: () => this.#evict(),
    });
    if (options.resumed) this.#resume(options.resumed);
  }

  #resume(log: ResumedLog): void {
    for (const { seq, offset } of log.points) this.#entries.pass(seq, offset);
    let ageMs = 0;
    for (const entry of resumedEntries(log)) {
      this.#entries.push(entry);
      this.#nextSeq = entry.seq + 1;
      this.#totalBytes = entry.offset + entry.bytes;
      ageMs = entry.ageMs;
    }
    this.#clock.resume(log.startMs, ageMs);
    this.#exited = log.exited ?? undefined;
    this.#closed = log.closedSeq !== null;
  }

  /** Whether what memory no longer holds may be found in an archive. */
  get isArchived(): boolean {
    return this.#archive !== undefined;
  }

  /** The number of the next entry. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  get exit(): ExitedEvent | undefined {
    return this.#exited?.event;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Set when no more events will come although the process has not closed, because contact was lost. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether any reader holds output. */
  get held(): boolean {
    return this.#holds.any;
  }

  /** Every holding reader has read up to here; the end of the log if there is none. */
  get readSeq(): number {
    return this.#holds.readSeq(this.#nextSeq - 1);
  }

  /** What memory holds because the slowest holding reader has not read it. */
  get unreadBytes(): number {
    return this.#holds.unreadBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Its output by position in bytes, to find lines in. */
  get output(): LineSource {
    this.#output ??= new LogOutput({
      log: this,
      entries: this.#entries,
      archive: this.#archive,
      startMs: () => this.#clock.startMs,
    });
    return this.#output;
  }

  appendOutput(stream: OutputStream, bytes: Uint8Array): void {
    const seq = this.#nextSeq;
    const timeMs = this.#clock.now();
    this.#archive?.append({ seq, offset: this.#totalBytes, timeMs, stream, bytes });
    this.#append({ type: 'output', seq, stream, bytes }, bytes.length);
  }

  /** Takes no number of its own: the size of a terminal is not output. */
  recordSize(size: TerminalSize): void {
    this.#archive?.resized(size, this.#clock.now());
  }

  appendExited(end: ExitFacts): void {
    const event: ExitedEvent = { type: 'exited', seq: this.#nextSeq, ...end };
    this.#exited = { event, offset: this.#totalBytes };
    this.#archive?.exited(event, this.#clock.now());
    this.#append(event, 0);
  }

  appendClosed(): void {
    this.#closed = true;
    this.#archive?.closed(this.#nextSeq, this.#clock.now());
    this.#append({ type: 'closed', seq: this.#nextSeq }, 0);
  }

  /** Records that entries up to `beforeSeq` never arrived: this is a copy of a log that has discarded them. */
  appendGap(beforeSeq: number, lostBytes: number): void {
    const event: ProcessEvent = { type: 'gap', afterSeq: this.#nextSeq - 1, beforeSeq, lostBytes };
    this.#nextSeq = beforeSeq - 1;
    // Taken before the append, so that whatever follows the gap comes after the lost bytes.
    const offset = this.#totalBytes;
    this.#totalBytes += lostBytes;
    this.#append(event, 0, offset);
  }

  /** Ends the log without a close: readers get the error once they have read everything before it. */
  fail(error: Error): void {
    if (this.#closed || this.#failure) return;
    this.#failure = error;
    this.#announce();
  }

  /** The event after a position, or undefined if there is none yet. A gap reports what is missing in between. */
  next(afterSeq: number): ProcessEvent | undefined {
    const entry = this.#after(afterSeq);
    const exited = this.#exited;
    if (exited && exited.event.seq > afterSeq && (!entry || exited.event.seq < entry.seq)) {
      return this.#gapBefore(exited.event.seq, exited.offset, afterSeq) ?? exited.event;
    }
    if (!entry) return undefined;
    if (entry.event.type === 'gap') return entry.event;
    return this.#gapBefore(entry.seq, entry.offset, afterSeq) ?? entry.event;
  }

  /** Output after a position, in the form `process/read` reports it. */
  read(afterSeq: number, maxBytes?: number): ReadResult {
    const capBytes = this.#archive ? MAX_ARCHIVED_READ_BYTES : Number.POSITIVE_INFINITY;
    return readLog(this, { afterSeq, maxBytes, capBytes });
  }

  /** What happened behind a position, with times. Only an archive knows; without one, throws `notRecorded`. */
  history(request: HistoryRequest): HistoryPage {
    if (this.#archive) return this.#archive.history(request);
    throw new ExecError(
      'notRecorded',
      'The output of this process is in memory only, without times. Start it with `retain: "disk"` for a history.',
    );
  }

  /** Resolves when there is more history behind a position, or the time is up. Throws at once where `history` would. */
  historyNews({ position, waitMs = 0 }: HistoryRequest): Promise<void> {
    const { events, complete } = this.history({ position, maxBytes: 1 });
    if (waitMs === 0 || events.length > 0 || complete) return Promise.resolve();
    return this.news(this.#nextSeq - 1, waitMs);
  }

  /** Whether `read` would return something a reader at this position does not know yet. */
  hasNews(afterSeq: number): boolean {
    if (this.#closed || this.#failure || (this.exit && this.exit.seq > afterSeq)) return true;
    return this.#entries.after(afterSeq) !== undefined;
  }

  /** Resolves when there is news for a reader at this position, or the time is up. */
  async news(afterSeq: number, waitMs: number): Promise<void> {
    await awaitNews(this, afterSeq, waitMs);
  }

  /** Changes how much unread output pauses the source. */
  resizeWindow(bytes: number): void {
    this.#holds.resizeWindow(bytes);
  }

  /** Keeps everything after `afterSeq`, and pauses the source when that exceeds the window. */
  hold(afterSeq: number): LogHold {
    return this.#holds.add(afterSeq);
  }

  /** A position that is followed by at most this much output. No further back than memory goes. */
  positionBeforeLast(bytes: number): number {
    return this.#entries.positionFrom(this.#totalBytes - bytes) ?? this.#nextSeq - 1;
  }

  /** How much output follows a position. */
  bytesAfter(seq: number): number {
    return this.#totalBytes - this.#offsetAfter(seq);
  }

  /** Calls `listener` after every append. Returns an unsubscribe function. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #append(event: ProcessEvent, bytes: number, offset = this.#totalBytes): void {
    this.#entries.push({ event, seq: this.#nextSeq, offset, bytes, ageMs: this.#clock.ageMs });
    this.#nextSeq += 1;
    this.#totalBytes += bytes;
    this.#evict();
    this.#holds.updatePressure();
    this.#announce();
  }

  #announce(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #evict(): void {
    this.#entries.evict(this.spills ? this.#nextSeq : this.readSeq);
  }

  /** The first entry after a position, from memory or from the archive. */
  #after(seq: number): LogEntry | undefined {
    const entry = this.#entries.after(seq);
    if (!this.#archive || !entry || entry.seq === seq + 1) return entry;
    const archived = this.#archive.after(seq);
    return archived && archived.seq < entry.seq ? entryOf(archived, this.#clock.startMs) : entry;
  }

  #gapBefore(seq: number, offset: number, afterSeq: number): ProcessEvent | undefined {
    if (afterSeq + 1 >= seq) return undefined;
    return { type: 'gap', afterSeq, beforeSeq: seq, lostBytes: offset - this.#offsetAfter(afterSeq) };
  }

  /** Output bytes up to and including an entry. */
  #offsetAfter(seq: number): number {
    if (seq >= this.#nextSeq) return this.#totalBytes;
    return this.#entries.offsetAfter(seq) ?? this.#totalBytes;
  }
}

function entryOf({ seq, offset, timeMs, stream, bytes }: ArchivedOutput, startMs: number): LogEntry {
  const event = { type: 'output', seq, stream, bytes } as const;
  return { event, seq, offset, bytes: bytes.length, ageMs: timeMs - startMs };
}
