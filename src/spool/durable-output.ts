import { existsSync, rmSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArchivedOutput,
  type ChunkPlace,
  countNewlines,
  type ExitedEvent,
  type HistoryPage,
  type HistoryRequest,
  type LineMark,
  type LogArchive,
  type MarkRequest,
  type OutputPlace,
  type OutputStream,
  type TerminalSize,
} from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { DurableFiles } from './durable-files.js';
import { historyPage } from './history-page.js';
import { ENTRY_BYTES, type EntryDraft, writeEntry } from './index-entry.js';
import { makePrivateDirectory } from './private-directory.js';
import { createFacts, type ProcessFacts, readFacts, type StoredEnd, writeFacts } from './process-facts.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import { NamedSegmentFiles, segmentFile } from './named-segment-files.js';
import { type Segment, SEGMENT_BYTES, sizeOf } from './segment.js';
import { bytesAt, chunkAt, markBefore, offsetSince } from './segment-lines.js';
import { SegmentReader } from './segment-reader.js';
import { storedSegments } from './stored-segments.js';
import { type LogTail, tailOf } from './log-tail.js';

/** Room for the largest chunk and its entry. */
const CHUNK_ROOM = 64 * 1024 + ENTRY_BYTES;
/** A directory, three files and their names. */
const FIXED_BYTES = 16 * 1024;

export interface DurableOutputOptions {
  readonly directory: string;
  readonly facts: ProcessFacts;
  /** Most that is kept of this process. */
  readonly limitBytes: number;
  readonly quota: SpoolQuota;
  /** Whether to keep the output when the log is gone. */
  readonly keep: boolean;
  /** Makes sure that the spool is there. Throws if it cannot be used. */
  readonly prepare: () => void;
  /** Called when files are open that can be closed before long. */
  readonly busy: (output: DurableOutput) => void;
  /** Called with its end, and again when it has closed, before anybody hears of that. */
  readonly ended: (end: StoredEnd, offset: number) => void;
  /** Called when the process has closed. */
  readonly closed: (output: DurableOutput) => void;
  /** Called once when output can no longer be written: what comes now does not outlive the server. */
  readonly failed: (error: Error) => void;
  /** Called when nothing is left of it. */
  readonly gone: (output: DurableOutput) => void;
}

const NOTHING = new Uint8Array(0);

/**
 * The output of one process on disk, where it is before anybody sees it: another server can continue with it. An entry of
 * the index follows its output, and is there before a client hears of it.
 */
export class DurableOutput implements LogArchive, OutputPlace, SpoolOwner {
  readonly #options: DurableOutputOptions;
  readonly #segmentBytes: number;
  readonly #files: DurableFiles;
  readonly #reader: SegmentReader;
  readonly #slot = new Uint8Array(ENTRY_BYTES);
  readonly #slotView = new DataView(this.#slot.buffer);
  #facts: ProcessFacts;
  #segments: Segment[] = [];
  /** Where the next output goes. Not one of the segments before it has any. */
  #current: Segment | undefined;
  #newestNumber = 0;
  #lastSeq = 0;
  #totalBytes = 0;
  #counted: LineMark = { offset: 0, newlines: 0 };
  #exists = false;
  #factsChanged = false;
  #broken = false;
  /** Disk space asked for and not used yet. */
  #granted = 0;

  constructor(options: DurableOutputOptions) {
    this.#options = options;
    this.#facts = options.facts;
    this.#segmentBytes = Math.min(SEGMENT_BYTES, Math.ceil(options.limitBytes / 4));
    this.#files = new DurableFiles(options.directory, options.facts.tty ? 'pty' : 'stdout');
    this.#reader = new SegmentReader(new NamedSegmentFiles(options.directory), () => this.#segments);
  }

  /** Continues where another server was killed. Returns what its log said at the end. */
  resume(end: StoredEnd | null, retainedBytes: number): LogTail {
    this.#facts = { ...this.#facts, end };
    this.#exists = existsSync(this.#options.directory);
    if (!this.#exists) return { points: [], tail: [], unentered: null };
    if (!readFacts(this.#options.directory)) createFacts(this.#options.directory, this.#facts);
    this.#segments = storedSegments(this.#options.directory);
    this.#options.quota.grow(this, FIXED_BYTES + this.#segments.reduce((sum, each) => sum + sizeOf(each), 0));
    const newest = this.#segments.at(-1);
    this.#newestNumber = newest?.number ?? 0;
    this.#current = newest;
    const { points, tail, last } = tailOf(this.#reader, retainedBytes);
    this.#lastSeq = last?.entry.seq ?? 0;
    this.#totalBytes = last ? last.entry.offset + last.entry.length : 0;
    const newlines = (last?.entry.newlines ?? 0) + (last ? countNewlines(last.bytes) : 0);
    this.#counted = { offset: this.#totalBytes, newlines };
    return { points, tail, unentered: this.#unentered() };
  }

  get facts(): ProcessFacts {
    return this.#facts;
  }

  get counted(): LineMark {
    return this.#counted;
  }

  startWith(): void {}

  get begun(): boolean {
    return this.#exists;
  }

  next(stream: OutputStream): { fd: number; position: number } | null {
    if (this.#broken) return null;
    try {
      this.#create();
      const segment = this.#roomFor(CHUNK_ROOM);
      this.#files.expect(stream);
      this.#options.busy(this);
      return { fd: this.#files.data(segment), position: segment.dataBytes };
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  failed(reason: string): void {
    this.#fail(new Error(`output cannot be written (${reason})`));
  }

  /** The output is in the file by now. */
  append({ stream, seq, offset, timeMs, bytes }: ArchivedOutput): void {
    this.#lastSeq = seq;
    this.#totalBytes = offset + bytes.length;
    this.#enter({ kind: stream, seq, offset, timeMs, length: bytes.length, bytes, isPlaced: true });
    this.#counted = {
      offset: this.#totalBytes,
      newlines: this.#counted.newlines + countNewlines(bytes),
    };
  }

  resized(size: TerminalSize, timeMs: number): void {
    const place = { seq: this.#lastSeq, offset: this.#totalBytes };
    if (this.next('pty')) this.#enter({ kind: 'resize', ...place, timeMs, length: 0, size, bytes: NOTHING });
  }

  exited(event: ExitedEvent, timeMs: number): void {
    const { seq: exitedSeq, exitCode, signal, timedOut, sandboxDenied } = event;
    const facts = { exitCode, signal, timedOut, sandboxDenied };
    const end = { ...facts, exitedSeq, exitedAtMs: timeMs, closedSeq: null, closedAtMs: null };
    this.#end(end);
  }

  closed(seq: number, timeMs: number): void {
    const { end } = this.#facts;
    if (end) this.#end({ ...end, closedSeq: seq, closedAtMs: timeMs });
    this.#options.closed(this);
  }

  #end(end: StoredEnd): void {
    this.#facts = { ...this.#facts, end };
    this.#factsChanged = true;
    this.#options.ended(end, this.#totalBytes);
  }

  after(seq: number): ArchivedOutput | undefined {
    return this.#read((reader) => reader.output(reader.find((entry) => entry.seq > seq)));
  }

  bytesAt(offset: number, maxBytes: number): { offset: number; bytes: Uint8Array } | undefined {
    return this.#read((reader) => bytesAt(reader, offset, maxBytes));
  }

  chunkAt(offset: number): ChunkPlace | undefined {
    return this.#read((reader) => chunkAt(reader, offset));
  }

  offsetSince(timeMs: number): number | undefined {
    return this.#read((reader) => offsetSince(reader, timeMs));
  }

  markBefore(wanted: MarkRequest): LineMark | undefined {
    return this.#read((reader) => markBefore(reader, wanted));
  }

  history(request: HistoryRequest): HistoryPage {
    const known = { facts: this.#facts, lastSeq: this.#lastSeq, totalBytes: this.#totalBytes };
    const source = { reader: this.#reader, ...known };
    try {
      return historyPage(source, request);
    } catch (error) {
      if (isExecError(error)) throw error;
      this.#fail(error);
      this.#segments = [];
      return historyPage(source, request);
    } finally {
      this.#options.busy(this);
    }
  }

  release(): void {
    if (!this.#options.keep) this.discard();
  }

  expendableSince(): number | null {
    return this.#options.keep ? (this.#facts.end?.closedAtMs ?? null) : null;
  }

  dropSpool(): void {
    this.#forget();
    void rm(this.#options.directory, { recursive: true, force: true }).catch(() => undefined);
  }

  discard(): void {
    this.#forget();
    this.#options.quota.release(this);
    if (this.#exists) rmSync(this.#options.directory, { recursive: true, force: true });
  }

  /** Writes the facts, if they are of use to anybody. */
  flush(): void {
    if (!this.#factsChanged || !this.#options.keep || this.#broken) return;
    try {
      this.#create();
      writeFacts(this.#options.directory, this.#facts);
      this.#factsChanged = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called from time to time: there is nothing to wait for, so the files are closed. */
  tick(): boolean {
    if (this.#facts.end?.closedAtMs != null) this.flush();
    this.close();
    return false;
  }

  close(): void {
    this.#files.close();
    this.#reader.rest();
  }

  /** What is on disk and in no entry. */
  #unentered(): LogTail['unentered'] {
    if (this.#files.has(this.#newestNumber + 1)) this.#current = this.#fresh();
    this.#current ??= this.#fresh();
    const { stream, bytes } = this.#files.unentered(this.#current);
    return bytes.length === 0 ? null : { stream, bytes };
  }

  /** What cannot be read is gone. */
  #read<Found>(find: (reader: SegmentReader) => Found | undefined): Found | undefined {
    try {
      const found = find(this.#reader);
      if (this.#reader.isOpen) this.#options.busy(this);
      return found;
    } catch (error) {
      this.#fail(error);
      this.#segments = [];
      return undefined;
    }
  }

  #create(): void {
    if (this.#exists) return;
    const { directory, quota, prepare } = this.#options;
    prepare();
    quota.grow(this, FIXED_BYTES);
    makePrivateDirectory(directory);
    this.#exists = true;
    createFacts(directory, this.#facts);
  }

  #enter(draft: EntryDraft): void {
    const segment = this.#current;
    if (this.#broken || !segment) return;
    try {
      writeEntry(this.#slotView, 0, draft, this.#counted.newlines);
      this.#files.writeEntry(segment, this.#slot);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (segment.entries === 0) {
      const { bytes: _, ...entry } = draft;
      this.#current = { ...segment, first: { ...entry, newlines: this.#counted.newlines } };
      this.#segments.push(this.#current);
    }
    const current = this.#current ?? segment;
    current.entries += 1;
    current.dataBytes += draft.length;
    this.#granted -= draft.length + ENTRY_BYTES;
  }

  /** Deletes the oldest segments to stay within the bounds, and returns the one to write to. */
  #roomFor(bytes: number): Segment {
    const { limitBytes } = this.#options;
    const newest = this.#current;
    const segment = newest && sizeOf(newest) < this.#segmentBytes ? newest : this.#fresh();
    this.#current = segment;
    for (;;) {
      const [oldest] = this.#segments;
      const used = this.#segments.reduce((sum, each) => sum + sizeOf(each), 0);
      const fits = this.#hasRoom(bytes) && used + bytes <= limitBytes;
      // The newest one stays, whatever its size: it is not large, and nothing else outlives us.
      if (fits || !oldest || oldest === segment) return segment;
      this.#dropOldest(oldest);
    }
  }

  /** Space is asked for in larger pieces, so that not every chunk has to. */
  #hasRoom(bytes: number): boolean {
    if (this.#granted >= bytes) return true;
    const piece = Math.min(this.#segmentBytes, 1024 * 1024);
    if (!this.#options.quota.grow(this, piece)) return false;
    this.#granted += piece;
    return true;
  }

  #fresh(): Segment {
    this.#newestNumber += 1;
    const first = {
      kind: 'stdout',
      seq: this.#lastSeq + 1,
      offset: this.#totalBytes,
      timeMs: 0,
      length: 0,
      newlines: this.#counted.newlines,
    } as const;
    return { number: this.#newestNumber, first, entries: 0, dataBytes: 0 };
  }

  #dropOldest(segment: Segment): void {
    this.#segments = this.#segments.slice(1);
    this.#reader.rest();
    this.#options.quota.shrink(this, sizeOf(segment));
    for (const kind of ['index', 'data'] as const)
      unlinkSync(join(this.#options.directory, segmentFile(segment.number, kind)));
  }

  /** From here on, only the log's memory is left. What was written can still be read. */
  #fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#files.close();
    this.#options.failed(error instanceof Error ? error : new Error(String(error)));
  }

  #forget(): void {
    this.#broken = true;
    this.#segments = [];
    this.close();
    this.#options.gone(this);
  }
}
