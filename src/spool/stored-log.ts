import {
  type ExitedEvent,
  type HistoryPage,
  type HistoryRequest,
  type LineSource,
  MAX_ARCHIVED_READ_BYTES,
  type ProcessEvent,
  type ReadableLog,
  readLog,
  type ReadResult,
} from '../contract/index.js';
import { historyPage } from './history-page.js';
import { NamedSegmentFiles } from './named-segment-files.js';
import { exitedEvent, type ProcessFacts } from './process-facts.js';
import type { Segment } from './segment.js';
import { SegmentReader } from './segment-reader.js';
import { StoredLines } from './stored-lines.js';

/** The log of a process that is no longer in memory, read from disk. */
export class StoredLog implements ReadableLog {
  readonly facts: ProcessFacts;
  readonly #segments: readonly Segment[];
  readonly #reader: SegmentReader;

  constructor(directory: string, facts: ProcessFacts, segments: readonly Segment[]) {
    this.facts = facts;
    this.#segments = segments;
    this.#reader = new SegmentReader(new NamedSegmentFiles(directory), () => this.#segments);
  }

  /** Its output by position in bytes, to find lines in. */
  get output(): LineSource {
    return new StoredLines(this.#reader, this.totalBytes);
  }

  get exit(): ExitedEvent | undefined {
    const { end } = this.facts;
    return end ? exitedEvent(end) : undefined;
  }

  get closed(): boolean {
    return this.facts.end?.closedSeq != null;
  }

  /** Bytes printed, as far as known. If the server was killed, the stored output may end before the program did. */
  get totalBytes(): number {
    const last = this.#segments.at(-1);
    return last ? last.first.offset + last.dataBytes : 0;
  }

  get nextSeq(): number {
    const { closedSeq, exitedSeq } = this.facts.end ?? {};
    return Math.max(closedSeq ?? 0, exitedSeq ?? 0, this.#lastSeq()) + 1;
  }

  /** Why there is no end, for a process whose server was killed. Never an invented exit. */
  get failure(): string | null {
    if (this.closed) return null;
    return `The server ended before the process did; its output is known up to byte ${this.totalBytes}.`;
  }

  next(afterSeq: number): ProcessEvent | undefined {
    const output = this.#reader.output(this.#reader.find((entry) => entry.seq > afterSeq));
    const { exit } = this;
    if (output && !(exit && exit.seq > afterSeq && exit.seq < output.seq)) {
      const { seq, stream, bytes } = output;
      return this.#gapBefore(seq, output.offset, afterSeq) ?? { type: 'output', seq, stream, bytes };
    }
    if (exit && exit.seq > afterSeq) return exit;
    const closedSeq = this.facts.end?.closedSeq ?? 0;
    return closedSeq > afterSeq ? { type: 'closed', seq: closedSeq } : undefined;
  }

  read(afterSeq: number, maxBytes?: number): ReadResult {
    return readLog(this, { afterSeq, maxBytes, capBytes: MAX_ARCHIVED_READ_BYTES });
  }

  history(request: HistoryRequest): HistoryPage {
    return historyPage({ reader: this.#reader, facts: this.facts, lastSeq: this.#lastSeq() }, request);
  }

  close(): void {
    this.#reader.rest();
  }

  /** Only the beginning of a stored log can be missing. */
  #gapBefore(seq: number, offset: number, afterSeq: number): ProcessEvent | undefined {
    const first = this.#segments[0]?.first;
    if (offset === 0 || !first || seq !== this.#firstSeq() || afterSeq + 1 >= seq) return undefined;
    return { type: 'gap', afterSeq, beforeSeq: seq, lostBytes: offset };
  }

  #firstSeq(): number {
    return this.#reader.output({ segment: 0, entry: 0 })?.seq ?? 0;
  }

  #lastSeq(): number {
    const segment = this.#segments.length - 1;
    const last = this.#segments[segment];
    return last ? (this.#reader.entryAt({ segment, entry: last.entries - 1 })?.seq ?? 0) : 0;
  }
}
