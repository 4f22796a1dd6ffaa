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

/** Most programs print less and end soon: nothing is written for them before they do. */
const FIRST_WRITE_BYTES = 64 * 1024;
/** Written at once. Lost if the server is killed, so not more than a moment's worth. */
const WRITE_BYTES = 256 * 1024;
const MAX_WAITING_CHUNKS = 1024;

export interface SpooledOutputOptions {
  readonly directory: string;
  readonly facts: ProcessFacts;
  /** Most that is kept of this process. */
  readonly limitBytes: number;
  readonly quota: SpoolQuota;
  readonly reserve?: ReserveSpace | undefined;
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
export class SpooledOutput extends ReadableOutput implements LogArchive, SpoolOwner {
  readonly #options: SpooledOutputOptions;
  readonly #directory: OutputDirectory;
  readonly #facts: FactsFile;
  readonly #store: SegmentStore;
  #waiting: EntryDraft[] = [];
  #waitingBytes = 0;
  #firstBytes = FIRST_WRITE_BYTES;
  #writeBytes = WRITE_BYTES;
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

  /** Writes what is waiting. */
  flush(): void {
    if (this.#broken) return;
    try {
      this.#create();
      if (this.#waiting.length > 0) this.#store.write(this.#waiting);
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#facts.save();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called from time to time: writes what is waiting, or closes the files. Returns false if nothing is left to do. */
  tick(): boolean {
    // The log still has it in memory, and nobody else will ask for it.
    if (!this.#directory.exists && !this.#options.keep) return false;
    const hasClosed = this.expendableSince() !== null;
    const isWaiting = this.#waiting.length > 0 && !this.#broken;
    if (isWaiting || hasClosed) this.flush();
    if (isWaiting && !hasClosed) return true;
    this.close();
    return false;
  }

  /** Closes the files. They are opened again when they are needed. */
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
    this.flush();
    this.#options.busy(this);
  }

  #create(): void {
    this.#directory.create(() => this.#facts.create());
  }

  /** From here on, only the log's memory is left. What was written can still be read. */
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
