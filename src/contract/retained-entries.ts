import { Checkpoints, firstIndex } from './checkpoints.js';
import type { ProcessEvent } from './process-event.js';

/** Tiny chunks cost more than their bytes, so their number is limited too. */
const MAX_RETAINED_ENTRIES = 50_000;
/** Below this, compacting is not worth copying the entries that stay, however little may be retained. */
const MIN_COMPACTED_BYTES = 64 * 1024;

/** `offset`: number of output bytes before this entry. */
export interface LogEntry {
  readonly event: ProcessEvent;
  readonly seq: number;
  readonly offset: number;
  readonly bytes: number;
  /** When it came, in milliseconds since the log began: a small number needs no memory of its own. */
  readonly ageMs: number;
}

/** The entries a log keeps: a bounded tail, in order. Of older ones it knows only how many bytes they had. */
export class RetainedEntries {
  readonly #limitBytes: number;
  readonly #onEvicted: ((bytes: Uint8Array) => void) | undefined;
  readonly #evicted = new Checkpoints();
  #entries: LogEntry[] = [];
  /** Entries before this index are evicted; the array is compacted from time to time. */
  #head = 0;
  #retainedBytes = 0;
  /** Bytes of evicted entries still in the array, which also use memory. */
  #evictedBytes = 0;

  constructor(options: { limitBytes: number; onEvicted: ((bytes: Uint8Array) => void) | undefined }) {
    this.#limitBytes = options.limitBytes;
    this.#onEvicted = options.onEvicted;
  }

  /** Remembers that there was output up to here that is no longer in memory. */
  pass(seq: number, offset: number): void {
    this.#evicted.add(seq, offset);
  }

  push(entry: LogEntry): void {
    this.#entries.push(entry);
    this.#retainedBytes += entry.bytes;
  }

  /** The first entry after a position. */
  after(seq: number): LogEntry | undefined {
    return this.#entries[this.#indexAfter(seq)];
  }

  /** The first entry with output at or behind an offset. */
  outputAt(offset: number): LogEntry | undefined {
    return this.#output(
      firstIndex(this.#entries, this.#head, (entry) => entry.offset + entry.bytes > offset),
    );
  }

  /** The first entry with output since a time. */
  outputSince(ageMs: number): LogEntry | undefined {
    return this.#output(firstIndex(this.#entries, this.#head, (entry) => entry.ageMs >= ageMs));
  }

  /** Output bytes up to and including an entry; undefined for the last one, since more may follow. */
  offsetAfter(seq: number): number | undefined {
    const index = this.#indexAfter(seq);
    const next = this.#entries[index];
    if (!next) return undefined;
    const previous = this.#entries[index - 1];
    if (next.seq === seq + 1 || (previous && previous.seq <= seq)) return next.offset;
    return this.#evicted.offsetAt(seq);
  }

  /** The position before the first entry that does not begin before this many bytes; undefined if there is none. */
  positionFrom(offset: number): number | undefined {
    const index = firstIndex(this.#entries, this.#head, (entry) => entry.offset >= offset);
    const entry = this.#entries[index];
    return entry && entry.seq - 1;
  }

  /** Discards what exceeds the limits, but nothing after `keepAfter`. */
  evict(keepAfter: number): void {
    for (;;) {
      const first = this.#entries[this.#head];
      const count = this.#entries.length - this.#head;
      // The newest entry always stays, so that there is an entry to report a gap before.
      if (!first || count <= 1 || first.seq > keepAfter) break;
      if (this.#retainedBytes <= this.#limitBytes && count <= MAX_RETAINED_ENTRIES) break;
      this.#evicted.add(first.seq, first.offset + first.bytes);
      this.#retainedBytes -= first.bytes;
      this.#evictedBytes += first.bytes;
      this.#head += 1;
      if (first.event.type === 'output') this.#onEvicted?.(first.event.bytes);
    }
    const many = this.#head > 256 && this.#head * 2 > this.#entries.length;
    const large = this.#evictedBytes > Math.max(this.#limitBytes / 2, MIN_COMPACTED_BYTES);
    if (many || large) this.#compact();
  }

  #output(from: number): LogEntry | undefined {
    for (let index = from; index < this.#entries.length; index += 1) {
      const entry = this.#entries[index];
      if (entry?.event.type === 'output') return entry;
    }
    return undefined;
  }

  #compact(): void {
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
    this.#evictedBytes = 0;
  }

  #indexAfter(seq: number): number {
    const last = this.#entries.length - 1;
    // Most readers are at the end or one entry before it.
    if (last >= this.#head && (this.#entries[last]?.seq ?? 0) <= seq) return last + 1;
    return firstIndex(this.#entries, this.#head, (entry) => entry.seq > seq);
  }
}
