import { setTimeout as pause } from 'node:timers/promises';
import type { OutputStream } from '../../contract/index.js';
import type { JobStore } from './job-store.js';

/** Headers of a message with output: its stream, and how much was printed before it. */
export const STREAM_HEADER = 'Ew-Stream';
export const OFFSET_HEADER = 'Ew-Offset';

/** As much as a message holds. */
const CHUNK_BYTES = 16 * 1024;
/** Output that waits while JetStream has no leader. Beyond this the oldest is dropped, and readers learn how much is missing. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Output that does not fill a message waits this long for more. */
const GATHER_MS = 100;
/** How long the end of a job waits for its output to be stored. */
const LAST_PATIENCE_MS = 10_000;

interface Chunk {
  readonly stream: OutputStream;
  readonly offset: number;
  bytes: Buffer;
}

/**
 * Copies what a job prints into a stream of the fleet, so that it can be read when its machine is gone. It never makes the
 * program wait: all of its output is on the machine.
 */
export class OutputMirror {
  readonly #store: JobStore;
  readonly #subject: string;
  readonly #waiting: Chunk[] = [];
  #waitingBytes = 0;
  #total = 0;
  #sending: Promise<void> | undefined;
  #isEnding = false;
  #wake = (): void => undefined;

  constructor(store: JobStore, subject: string) {
    this.#store = store;
    this.#subject = subject;
  }

  /** Everything that was printed, missing output included. */
  get total(): number {
    return this.#total;
  }

  write(stream: OutputStream, bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES)
      this.#add(stream, Buffer.from(bytes.subarray(from, from + CHUNK_BYTES)));
    while (this.#waitingBytes > MAX_WAITING_BYTES)
      this.#waitingBytes -= this.#waiting.shift()?.bytes.length ?? 0;
    if (this.#waitingBytes >= CHUNK_BYTES) this.#wake();
    this.#sending ??= this.#send().finally(() => (this.#sending = undefined));
  }

  /** This much was printed and never seen here. */
  skip(lostBytes: number): void {
    this.#total += lostBytes;
  }

  /** Resolves when everything is stored, or cannot be. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.#wake();
    await this.#sending;
  }

  #add(stream: OutputStream, bytes: Buffer): void {
    const last = this.#waiting.at(-1);
    const isNext = last?.stream === stream && last.offset + last.bytes.length === this.#total;
    if (last && isNext && last.bytes.length + bytes.length <= CHUNK_BYTES)
      last.bytes = Buffer.concat([last.bytes, bytes]);
    else this.#waiting.push({ stream, offset: this.#total, bytes });
    this.#total += bytes.length;
    this.#waitingBytes += bytes.length;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!this.#isEnding && this.#waitingBytes < CHUNK_BYTES) await this.#gather();
      const chunk = this.#waiting.shift();
      if (!chunk) return;
      this.#waitingBytes -= chunk.bytes.length;
      const options = {
        headers: { [STREAM_HEADER]: chunk.stream, [OFFSET_HEADER]: String(chunk.offset) },
        patienceMs: LAST_PATIENCE_MS,
      };
      // What cannot be stored is missing, and the next offset shows that.
      await this.#store.output.put(this.#subject, chunk.bytes, options).catch(() => undefined);
    }
  }

  async #gather(): Promise<void> {
    const enough = new AbortController();
    this.#wake = () => enough.abort();
    await pause(GATHER_MS, undefined, { signal: enough.signal }).catch(() => undefined);
    this.#wake = () => undefined;
  }
}
