import type {
  ArchivedOutput,
  ExitedEvent,
  LineMark,
  LogArchive,
  OutputPlace,
  OutputStream,
  TerminalSize,
} from '../contract/index.js';
import { DurableSegments } from './durable-segments.js';
import { FactsFile } from './facts-file.js';
import type { HistorySource } from './history-page.js';
import type { EntryDraft } from './index-entry.js';
import type { LogTail } from './log-tail.js';
import { FIXED_BYTES, OutputDirectory } from './output-directory.js';
import { type ProcessFacts, readFacts, type StoredEnd } from './process-facts.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import { ReadableOutput } from './readable-output.js';
import type { ReserveSpace } from './reserved-space.js';
import type { SegmentReader } from './segment-reader.js';

export interface DurableOutputOptions {
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
  /** Called when it has files open that can soon be closed. */
  readonly busy: (output: DurableOutput) => void;
  /** Called with the end of the process, and again when it has closed, before any client learns of it. */
  readonly ended: (end: StoredEnd, offset: number) => void;
  /** Called when the process has closed. */
  readonly closed: (output: DurableOutput) => void;
  /** Called once when output can no longer be written. Further output does not outlive the server. */
  readonly failed: (error: Error) => void;
  /** Called when nothing is left of it. */
  readonly gone: (output: DurableOutput) => void;
}

const NOTHING = new Uint8Array(0);

/**
 * The output of one process, which is on disk before it is delivered, so that another server can continue with it. The index
 * entry follows the output, and is written before a client receives it.
 */
export class DurableOutput extends ReadableOutput implements LogArchive, OutputPlace, SpoolOwner {
  readonly #options: DurableOutputOptions;
  readonly #directory: OutputDirectory;
  readonly #facts: FactsFile;
  readonly #segments: DurableSegments;
  #broken = false;

  constructor(options: DurableOutputOptions) {
    super();
    this.#options = options;
    const { directory, facts, limitBytes, quota, reserve, prepare } = options;
    this.#directory = new OutputDirectory({ path: directory, owner: this, quota, prepare });
    this.#facts = new FactsFile(directory, facts);
    const usualStream = facts.tty ? 'pty' : 'stdout';
    this.#segments = new DurableSegments({ directory, usualStream, limitBytes, owner: this, quota, reserve });
  }

  /** Continues where another server was killed. Returns the end of its log. */
  resume(end: StoredEnd | null, retainedBytes: number): LogTail {
    this.#facts.continueWith(end);
    if (!this.#directory.takeOver()) return { points: [], tail: [], unentered: null };
    const { directory, quota } = this.#options;
    if (!readFacts(directory)) this.#facts.create();
    this.#segments.load();
    quota.grow(this, FIXED_BYTES + this.#segments.usedBytes);
    return this.#segments.resume(retainedBytes);
  }

  get facts(): ProcessFacts {
    return this.#facts.facts;
  }

  get counted(): LineMark {
    return this.#segments.counted;
  }

  startWith(): void {}

  get begun(): boolean {
    return this.#directory.exists;
  }

  next(stream: OutputStream): { fd: number; position: number } | null {
    if (this.#broken) return null;
    try {
      this.#create();
      const place = this.#segments.place(stream);
      this.#options.busy(this);
      return place;
    } catch (error) {
      this.#fail(error);
      return null;
    }
  }

  failed(reason: string): void {
    this.#fail(new Error(`output cannot be written (${reason})`));
  }

  /** Call when the output is in the file. */
  append({ stream, seq, offset, timeMs, bytes }: ArchivedOutput): void {
    this.#enter({ kind: stream, seq, offset, timeMs, length: bytes.length, bytes, isPlaced: true });
    this.#segments.count({ seq, offset, bytes });
  }

  resized(size: TerminalSize, timeMs: number): void {
    const { lastSeq: seq, counted } = this.#segments;
    const draft = { seq, offset: counted.offset, timeMs, length: 0, size, bytes: NOTHING };
    if (this.next('pty')) this.#enter({ kind: 'resize', ...draft });
  }

  exited(event: ExitedEvent, timeMs: number): void {
    this.#facts.exited(event, timeMs);
    this.#ended();
  }

  closed(seq: number, timeMs: number): void {
    this.#facts.closed(seq, timeMs);
    this.#ended();
    this.#options.closed(this);
  }

  release(): void {
    if (!this.#options.keep) this.discard();
  }

  expendableSince(): number | null {
    return this.#options.keep ? (this.facts.end?.closedAtMs ?? null) : null;
  }

  dropSpool(): void {
    this.#forget();
    this.#directory.removeLater();
  }

  discard(): void {
    this.#forget();
    this.#directory.remove();
  }

  /** Writes the facts if they are needed. */
  flush(): void {
    if (!this.#facts.needsSaving || !this.#options.keep || this.#broken) return;
    try {
      this.#create();
      this.#facts.save();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Called periodically: closes the files while nothing happens. */
  tick(): boolean {
    if (this.facts.end?.closedAtMs != null) this.flush();
    this.close();
    return false;
  }

  close(): void {
    this.#segments.rest();
  }

  protected override get reader(): SegmentReader {
    return this.#segments.reader;
  }

  protected override get known(): Omit<HistorySource, 'reader'> {
    const { lastSeq, counted } = this.#segments;
    return { facts: this.facts, lastSeq, totalBytes: counted.offset };
  }

  protected override filesOpened(): void {
    this.#options.busy(this);
  }

  protected override unreadable(error: unknown): void {
    this.#fail(error);
    this.#segments.forget();
  }

  #ended(): void {
    const { end } = this.facts;
    if (end) this.#options.ended(end, this.counted.offset);
  }

  #create(): void {
    this.#directory.create(() => this.#facts.create());
  }

  #enter(draft: EntryDraft): void {
    if (this.#broken) return;
    try {
      this.#segments.enter(draft);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** From here on, output is only in the log's memory. What was written can still be read. */
  #fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#segments.closeWriter();
    this.#options.failed(error instanceof Error ? error : new Error(String(error)));
  }

  #forget(): void {
    this.#broken = true;
    this.#segments.forget();
    this.close();
    this.#options.gone(this);
  }
}
