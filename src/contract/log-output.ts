import { countNewlines } from './count-newlines.js';
import type { ChunkPlace, LineMark, LineSource, MarkRequest } from './line-source.js';
import type { LogArchive } from './log-archive.js';
import type { LogEntry, RetainedEntries } from './retained-entries.js';

/** The log whose output this is. */
interface OwnLog {
  readonly totalBytes: number;
  readonly closed: boolean;
  readonly failure: Error | undefined;
  subscribe(listener: () => void): () => void;
}

export interface LogOutputOptions {
  readonly log: OwnLog;
  readonly entries: RetainedEntries;
  readonly archive: LogArchive | undefined;
  /** When the log began. */
  readonly startMs: () => number;
}

/**
 * The output of a log by position in bytes, from memory and from its archive. Lines that only memory had are counted from
 * when they are first asked about: counting all of them always would slow down every process.
 */
export class LogOutput implements LineSource {
  readonly #log: OwnLog;
  readonly #entries: RetainedEntries;
  readonly #archive: LogArchive | undefined;
  readonly #startMs: () => number;
  /** Without an archive: the newlines up to here, as far as they were counted. */
  #counted: LineMark | undefined;

  constructor({ log, entries, archive, startMs }: LogOutputOptions) {
    this.#log = log;
    this.#entries = entries;
    this.#archive = archive;
    this.#startMs = startMs;
  }

  get totalBytes(): number {
    return this.#log.totalBytes;
  }

  get closed(): boolean {
    return this.#log.closed || this.#log.failure !== undefined;
  }

  bytesAt(offset: number, maxBytes: number): { offset: number; bytes: Uint8Array } | undefined {
    const entry = this.#entries.outputAt(offset);
    const archived = entry && entry.offset <= offset ? undefined : this.#archive?.bytesAt(offset, maxBytes);
    if (archived && (!entry || archived.offset < entry.offset)) return archived;
    if (!entry) return undefined;
    const skipped = Math.max(0, offset - entry.offset);
    return { offset: entry.offset + skipped, bytes: bytesOf(entry).subarray(skipped, skipped + maxBytes) };
  }

  chunkAt(offset: number): ChunkPlace | undefined {
    const entry = this.#entries.outputAt(offset);
    const archived = entry && entry.offset <= offset ? undefined : this.#archive?.chunkAt(offset);
    if (archived && (!entry || archived.offset < entry.offset)) return archived;
    if (entry?.event.type !== 'output') return undefined;
    const { seq, offset: from, ageMs, event } = entry;
    return { seq, offset: from, timeMs: this.#startMs() + ageMs, stream: event.stream };
  }

  offsetSince(timeMs: number): number {
    const inMemory = this.#entries.outputSince(timeMs - this.#startMs())?.offset ?? this.totalBytes;
    return Math.min(inMemory, this.#archive?.offsetSince(timeMs) ?? inMemory);
  }

  markBefore(wanted: MarkRequest): LineMark {
    const memory = this.#memoryMark();
    // In the middle of a line, its start is somewhere before.
    const isInMemory = 'line' in wanted ? memory.newlines < wanted.line - 1 : memory.offset <= wanted.offset;
    return isInMemory ? memory : (this.#archive?.markBefore(wanted) ?? memory);
  }

  /** The oldest output in memory, and the newlines before it. */
  #memoryMark(): LineMark {
    const counted = this.#archive?.counted ?? this.#count();
    const oldest = this.#entries.outputAt(0);
    if (!oldest) return counted;
    const { offset } = oldest;
    const archived = this.#archive?.markBefore({ offset });
    if (archived?.offset === offset) return archived;
    return { offset, newlines: counted.newlines - this.#newlinesBetween(offset, counted.offset) };
  }

  #count(): LineMark {
    if (this.#counted) return this.#counted;
    const from = this.#entries.outputAt(0)?.offset ?? this.totalBytes;
    this.#counted = { offset: from, newlines: 0 };
    this.#countMore();
    this.#log.subscribe(() => this.#countMore());
    return this.#counted;
  }

  #countMore(): void {
    const from = this.#counted ?? { offset: 0, newlines: 0 };
    const { totalBytes } = this;
    if (totalBytes === from.offset) return;
    const more = this.#newlinesBetween(from.offset, totalBytes);
    this.#counted = { offset: totalBytes, newlines: from.newlines + more };
  }

  /** In memory only. */
  #newlinesBetween(from: number, to: number): number {
    let total = 0;
    for (let at = from; at < to; ) {
      const entry = this.#entries.outputAt(at);
      if (!entry) break;
      const start = Math.max(0, at - entry.offset);
      total += countNewlines(bytesOf(entry).subarray(start, to - entry.offset));
      at = entry.offset + entry.bytes;
    }
    return total;
  }
}

function bytesOf({ event }: LogEntry): Uint8Array {
  return event.type === 'output' ? event.bytes : NOTHING;
}

const NOTHING = new Uint8Array(0);
