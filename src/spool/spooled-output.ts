import type {
  ArchivedOutput,
  ExitedEvent,
  HistoryPage,
  HistoryRequest,
  LineMark,
  LogArchive,
  TerminalSize,
} from '../contract/index.js';
import { FactsFile } from './facts-file.js';
import type { HistorySource } from './history-page.js';
import type { EntryDraft } from './index-entry.js';
import { NamedSegmentFiles } from './named-segment-files.js';
import { OutputDirectory } from './output-directory.js';
import type { ProcessFacts } from './process-facts.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import { ReadableOutput } from './readable-output.js';
import type { ReserveSpace } from './reserved-space.js';
import { SEGMENT_BYTES } from './segment.js';
import type { SegmentReader } from './segment-reader.js';
import { SegmentStore } from './segment-store.js';
import { BOUNDARY_BYTES } from './write-boundary.js';

/** Most programs print less than this and end soon. Nothing is written for them before they end. */
const FIRST_WRITE_BYTES = 64 * 1024;
/** How much is written at a time. It is lost if the server is killed, so it should not be more than a moment's worth. */
const WRITE_BYTES = BOUNDARY_BYTES;
const MAX_WAITING_CHUNKS = 1024;

export interface SpooledOutputOptions {
  readonly directory: string;
  readonly facts: ProcessFacts;
  /** The most output kept of this process. */
  readonly limitBytes: number;
  readonly quota: SpoolQuota;
  readonly reserve?: ReserveSpace | undefined;
  /** Whether to keep the output when the log is gone. */
  readonly keep: boolean;
  /** Makes sure that the spool exists. Throws if it cannot be used. */
  readonly prepare: () => void;
  /** Called when there is something to write soon. */
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
export class SpooledOutput extends ReadableOutput implements LogArchive, SpoolOwner {
  readonly #options: SpooledOutputOptions;
  readonly #directory: OutputDirectory;
  readonly #facts: FactsFile;
  readonly #store: SegmentStore;
  /** Output not written yet, except perhaps for a part of the first chunk. */
  #waiting: EntryDraft[] = [];
  /** Its size, without that part. */
  #waitingBytes = 0;
  #firstBytes = FIRST_WRITE_BYTES;
  #writeBytes = WRITE_BYTES;
  /** Whether the log keeps what remains when less is written than there is. */
  #mayRemain = true;
  #lastSeq = 0;
  #totalBytes = 0;
  #broken = false;

  constructor(options: SpooledOutputOptions) {
    super();
    this.#options = options;
    const { directory, facts, limitBytes, quota, reserve, prepare } = options;
    this.#directory = new OutputDirectory({ path: directory, owner: this, quota, prepare });
    this.#facts = new FactsFile(directory, facts);
    const files = new NamedSegmentFiles(directory);
    const segmentBytes = Math.min(SEGMENT_BYTES, Math.ceil(limitBytes / 4));
    this.#store = new SegmentStore({ files, owner: this, quota, limitBytes, segmentBytes, reserve });
  }

  get facts(): ProcessFacts {
    return this.#facts.facts;
  }

  get counted(): LineMark {
    return this.#store.counted;
  }

  /** Chunks must be written before the log reuses their memory. */
  startWith({ retainedBytes }: { readonly retainedBytes: number }): void {
    this.#firstBytes = Math.min(FIRST_WRITE_BYTES, retainedBytes);
    this.#writeBytes = Math.min(WRITE_BYTES, retainedBytes);
    this.#mayRemain = retainedBytes >= 2 * WRITE_BYTES;
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
    this.#facts.exited(event, timeMs);
  }

  closed(seq: number, timeMs: number): void {
    this.#facts.closed(seq, timeMs);
    this.#options.closed(this);
  }

  override history(request: HistoryRequest): HistoryPage {
    this.flush();
    return super.history(request);
  }

  release(): void {
    if (!this.#options.keep) this.discard();
  }

  expendableSince(): number | null {
    return this.facts.end?.closedAtMs ?? null;
  }

  dropSpool(): void {
    this.#forget();
    this.#directory.removeLater();
  }

  discard(): void {
    this.#forget();
    this.#directory.remove();
  }

  /** Writes pending output. */
  flush(): void {
    this.#attempt(() => {
      if (this.#waiting.length > 0) this.#store.write(this.#waiting);
      this.#waiting = [];
      this.#waitingBytes = 0;
    });
  }

  /** Writes most of the pending output. */
  #flushMost(): void {
    this.#attempt(() => {
      const { whole, part } = this.#store.writeToBoundary(this.#waiting);
      this.#waiting = this.#waiting.slice(whole);
      this.#waitingBytes = this.#waiting.reduce((sum, { length }) => sum + length, -part);
    });
  }

  #attempt(write: () => void): void {
    if (this.#broken) return;
    try {
      this.#create();
      write();
      this.#facts.save();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called periodically: writes pending output, or closes the files. Returns false if nothing is left to do. */
  tick(): boolean {
    // The log still has it in memory, and nobody else will need it.
    if (!this.#directory.exists && !this.#options.keep) return false;
    const hasClosed = this.expendableSince() !== null;
    const isWaiting = this.#waiting.length > 0 && !this.#broken;
    if (isWaiting || hasClosed) this.flush();
    if (isWaiting && !hasClosed) return true;
    this.close();
    return false;
  }

  /** Closes the files. They are reopened when needed. */
  close(): void {
    this.#store.rest();
  }

  protected override get reader(): SegmentReader {
    return this.#store.reader;
  }

  protected override get known(): Omit<HistorySource, 'reader'> {
    return { facts: this.facts, lastSeq: this.#lastSeq, totalBytes: this.#totalBytes };
  }

  protected override filesOpened(): void {
    this.#options.busy(this);
  }

  protected override unreadable(error: unknown): void {
    this.#fail(error);
    this.#store.forget();
  }

  #add(waiting: EntryDraft): void {
    if (this.#broken) {
      this.#store.count([waiting]);
      return;
    }
    if (this.#waiting.length === 0) this.#options.busy(this);
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.length;
    const most = this.#directory.exists ? this.#writeBytes : this.#firstBytes;
    if (this.#waitingBytes < most && this.#waiting.length < MAX_WAITING_CHUNKS) return;
    if (this.#mayRemain && this.#waitingBytes >= WRITE_BYTES) this.#flushMost();
    else this.flush();
    this.#options.busy(this);
  }

  #create(): void {
    this.#directory.create(() => this.#facts.create());
  }

  /** From here on, output is only in the log's memory. What was written can still be read. */
  #fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#store.count(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#store.closeWriter();
    this.#options.failed(error instanceof Error ? error : new Error(String(error)));
  }

  #forget(): void {
    this.#broken = true;
    this.#store.count(this.#waiting);
    this.#store.forget();
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.close();
    this.#options.gone(this);
  }
}
