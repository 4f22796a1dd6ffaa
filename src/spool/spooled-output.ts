import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
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
  type TerminalSize,
} from '../contract/index.js';
import { historyPage } from './history-page.js';
import { isExecError } from '../protocol/errors.js';
import { ENTRY_BYTES, type EntryDraft, writeEntry } from './index-entry.js';
import { NamedSegmentFiles } from './named-segment-files.js';
import { makePrivateDirectory } from './private-directory.js';
import { createFacts, type ProcessFacts, writeFacts } from './process-facts.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import { type Segment, SEGMENT_BYTES, sizeOf } from './segment.js';
import type { SegmentFiles } from './segment-files.js';
import { SegmentReader } from './segment-reader.js';
import { bytesAt, chunkAt, markBefore, offsetSince } from './segment-lines.js';
import { SegmentWriter } from './segment-writer.js';

/** Most programs print less and end soon: nothing is written for them before they do. */
const FIRST_WRITE_BYTES = 64 * 1024;
/** Written at once. Lost if the server is killed, so not more than a moment's worth. */
const WRITE_BYTES = 256 * 1024;
const MAX_WAITING_CHUNKS = 1024;
/** A directory, three files and their names. */
const FIXED_BYTES = 16 * 1024;

export interface SpooledOutputOptions {
  readonly directory: string;
  readonly facts: ProcessFacts;
  /** Most that is kept of this process. */
  readonly limitBytes: number;
  readonly quota: SpoolQuota;
  /** Whether to keep the output when the log is gone. */
  readonly keep: boolean;
  /** Makes sure that the spool is there. Throws if it cannot be used. */
  readonly prepare: () => void;
  /** Called when there is something to write before long. */
  readonly busy: (output: SpooledOutput) => void;
  /** Called when the process has closed. */
  readonly closed: (output: SpooledOutput) => void;
  /** Called once when output can no longer be written. */
  readonly failed: (error: Error) => void;
  /** Called when nothing is left of it. */
  readonly gone: (output: SpooledOutput) => void;
}

const NOTHING = new Uint8Array(0);

/** The output of one process on disk, while it runs. */
export class SpooledOutput implements LogArchive, SpoolOwner {
  readonly #options: SpooledOutputOptions;
  readonly #segmentBytes: number;
  readonly #files: SegmentFiles;
  readonly #writer: SegmentWriter;
  readonly #reader: SegmentReader;
  #facts: ProcessFacts;
  #segments: Segment[] = [];
  #newestNumber = 0;
  #waiting: EntryDraft[] = [];
  #waitingBytes = 0;
  #firstBytes = FIRST_WRITE_BYTES;
  #writeBytes = WRITE_BYTES;
  #lastSeq = 0;
  #totalBytes = 0;
  #counted: LineMark = { offset: 0, newlines: 0 };
  #exists = false;
  /** The facts on disk are out of date. */
  #factsChanged = true;
  #broken = false;

  constructor(options: SpooledOutputOptions) {
    this.#options = options;
    this.#facts = options.facts;
    this.#segmentBytes = Math.min(SEGMENT_BYTES, Math.ceil(options.limitBytes / 4));
    this.#files = new NamedSegmentFiles(options.directory);
    this.#writer = new SegmentWriter(this.#files);
    this.#reader = new SegmentReader(this.#files, () => this.#segments);
  }

  get facts(): ProcessFacts {
    return this.#facts;
  }

  get counted(): LineMark {
    return this.#counted;
  }

  /** Chunks in the log's memory must be written before the log reuses it. */
  startWith({ retainedBytes }: { readonly retainedBytes: number }): void {
    this.#firstBytes = Math.min(FIRST_WRITE_BYTES, retainedBytes);
    this.#writeBytes = Math.min(WRITE_BYTES, retainedBytes);
  }

  append({ stream, seq, offset, timeMs, bytes }: ArchivedOutput): void {
    this.#lastSeq = seq;
    this.#totalBytes = offset + bytes.length;
    this.#add({ kind: stream, seq, offset, timeMs, length: bytes.length, bytes });
  }

  resized(size: TerminalSize, timeMs: number): void {
    const place = { seq: this.#lastSeq, offset: this.#totalBytes };
    this.#add({ kind: 'resize', ...place, timeMs, length: 0, size, bytes: NOTHING });
  }

  exited(event: ExitedEvent, timeMs: number): void {
    const { seq: exitedSeq, exitCode, signal, timedOut, sandboxDenied } = event;
    const facts = { exitCode, signal, timedOut, sandboxDenied };
    const end = { ...facts, exitedSeq, exitedAtMs: timeMs, closedSeq: null, closedAtMs: null };
    this.#facts = { ...this.#facts, end };
    this.#factsChanged = true;
  }

  closed(seq: number, timeMs: number): void {
    const { end } = this.#facts;
    if (end) this.#facts = { ...this.#facts, end: { ...end, closedSeq: seq, closedAtMs: timeMs } };
    this.#factsChanged = true;
    this.#options.closed(this);
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
    this.flush();
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
    return this.#facts.end?.closedAtMs ?? null;
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

  /** Writes what is waiting. */
  flush(): void {
    if (this.#broken) return;
    try {
      this.#create();
      if (this.#waiting.length > 0) this.#write();
      if (this.#factsChanged && this.#facts.end) writeFacts(this.#options.directory, this.#facts);
      this.#factsChanged = false;
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called from time to time: writes what is waiting, or closes the files. Returns false if nothing is left to do. */
  tick(): boolean {
    // The log still has it in memory, and nobody else will ask for it.
    if (!this.#exists && !this.#options.keep) return false;
    const hasClosed = this.expendableSince() !== null;
    const isWaiting = this.#waiting.length > 0 && !this.#broken;
    if (isWaiting || hasClosed) this.flush();
    if (isWaiting && !hasClosed) return true;
    this.close();
    return false;
  }

  /** Closes the files. They are opened again when they are needed. */
  close(): void {
    this.#writer.close();
    this.#reader.rest();
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

  #add(waiting: EntryDraft): void {
    if (this.#broken) {
      this.#count([waiting]);
      return;
    }
    if (this.#waiting.length === 0) this.#options.busy(this);
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.length;
    const most = this.#exists ? this.#writeBytes : this.#firstBytes;
    if (this.#waitingBytes < most && this.#waiting.length < MAX_WAITING_CHUNKS) return;
    this.flush();
    this.#options.busy(this);
  }

  #create(): void {
    if (this.#exists) return;
    const { directory, quota, prepare } = this.#options;
    prepare();
    quota.grow(this, FIXED_BYTES);
    makePrivateDirectory(directory);
    this.#exists = true;
    createFacts(directory, this.#facts);
    this.#factsChanged = false;
  }

  #write(): void {
    const waiting = this.#waiting;
    const target = this.#roomFor(this.#waitingBytes + waiting.length * ENTRY_BYTES);
    const index = new Uint8Array(waiting.length * ENTRY_BYTES);
    const view = new DataView(index.buffer);
    let position = 0;
    let { newlines } = this.#counted;
    for (const draft of waiting) {
      writeEntry(view, position, draft, newlines);
      newlines += countNewlines(draft.bytes);
      position += ENTRY_BYTES;
    }
    const chunks = waiting.map(({ bytes }) => bytes);
    this.#writer.append(target, chunks, index);
    if (target.entries === 0) this.#segments.push(target);
    target.entries += waiting.length;
    target.dataBytes += this.#waitingBytes;
    this.#counted = { offset: this.#counted.offset + this.#waitingBytes, newlines };
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Deletes the oldest segments to stay within the bounds, and returns the one to write to. */
  #roomFor(bytes: number): Segment {
    const { limitBytes, quota } = this.#options;
    for (;;) {
      const [oldest] = this.#segments;
      const used = this.#segments.reduce((sum, segment) => sum + sizeOf(segment), 0);
      const fits = used + bytes <= limitBytes;
      if (!oldest || (fits && quota.grow(this, bytes))) {
        if (!oldest) quota.grow(this, bytes);
        return this.#segment();
      }
      this.#dropOldest(oldest);
    }
  }

  /** The newest segment, or the next one if that is full. */
  #segment(): Segment {
    const newest = this.#segments.at(-1);
    if (newest && sizeOf(newest) < this.#segmentBytes) return newest;
    const [waiting] = this.#waiting;
    if (!waiting) throw new Error('There is nothing to write.');
    const { bytes: _, ...entry } = waiting;
    this.#newestNumber += 1;
    const first = { ...entry, newlines: this.#counted.newlines };
    return { number: this.#newestNumber, first, entries: 0, dataBytes: 0 };
  }

  #dropOldest(segment: Segment): void {
    this.#segments = this.#segments.slice(1);
    this.#reader.rest();
    if (this.#segments.length === 0) this.#writer.close();
    this.#options.quota.shrink(this, sizeOf(segment));
    this.#files.remove(segment);
  }

  /** From here on, only the log's memory is left. What was written can still be read. */
  #fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#count(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#writer.close();
    this.#options.failed(error instanceof Error ? error : new Error(String(error)));
  }

  /** Lines are numbered on when their output can no longer be kept. */
  #count(lost: readonly EntryDraft[]): void {
    let { offset, newlines } = this.#counted;
    for (const { bytes } of lost) {
      offset += bytes.length;
      newlines += countNewlines(bytes);
    }
    this.#counted = { offset, newlines };
  }

  #forget(): void {
    this.#broken = true;
    this.#count(this.#waiting);
    this.#segments = [];
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.close();
    this.#options.gone(this);
  }
}
