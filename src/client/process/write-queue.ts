import type { WriteStatus } from '../../contract/index.js';
import type { ExecError } from '../../protocol/index.js';
import { joinBytes } from '../../protocol/join-bytes.js';

/** Most bytes per message. Small enough for every server's frame limit, large enough to keep a link busy. */
export const MAX_WRITE_BYTES = 512 * 1024;

/** Sends one piece under an id that identifies retries. */
export type SendWrite = (piece: { bytes: Uint8Array; writeId: string }) => Promise<WriteStatus>;

interface Job {
  readonly bytes: Uint8Array;
  readonly run: ((after: undefined) => Promise<void>) | undefined;
  resolve(status: WriteStatus): void;
  reject(error: unknown): void;
}

/**
 * The input of one process with one write in flight at a time, because some servers reorder concurrent writes. Whatever
 * is written meanwhile is combined, so that many small writes need few messages.
 */
export class WriteQueue {
  readonly #send: SendWrite;
  readonly #idPrefix: string;
  readonly #jobs: Job[] = [];
  #nextWriteId = 1;
  #inFlight = 0;

  constructor(send: SendWrite, options: { idPrefix: string }) {
    this.#send = send;
    this.#idPrefix = options.idPrefix;
  }

  /** Resolves when the server has answered for these bytes. */
  write(bytes: Uint8Array): Promise<WriteStatus> {
    // Copied, because the caller may reuse its buffer and the bytes may have to be sent again after a lost connection.
    return this.#add(bytes.slice(), undefined);
  }

  /** Runs a task in order behind the preceding writes. */
  async afterWrites(run: (after: undefined) => Promise<void>): Promise<void> {
    await this.#add(new Uint8Array(0), run);
  }

  /** Sends what is waiting without waiting for answers, so that whatever is sent next follows it. */
  flush(): void {
    while (this.#jobs.length > 0) this.#sendNext();
  }

  /** One write at a time does not depend on the line. */
  lineChanged(): void {}

  close(): void {}

  /** Sends nothing more and fails what is waiting. False if everything was answered for. */
  abandon(error: ExecError): boolean {
    const unsent = this.#jobs.splice(0);
    for (const job of unsent) job.reject(error);
    return unsent.length > 0 || this.#inFlight > 0;
  }

  #add(bytes: Uint8Array, run: Job['run']): Promise<WriteStatus> {
    return new Promise<WriteStatus>((resolve, reject) => {
      this.#jobs.push({ bytes, run, resolve, reject });
      if (this.#inFlight === 0) this.#sendNext();
    });
  }

  #sendNext(): void {
    const batch = this.#takeBatch();
    const first = batch[0];
    if (!first) return;
    this.#inFlight += 1;
    const done = first.run
      ? first.run(undefined).then((): WriteStatus => 'accepted')
      : this.#sendAll(joinBytes(batch.map((job) => job.bytes)));
    done
      .then(
        (status) => batch.forEach((job) => job.resolve(status)),
        (error: unknown) => batch.forEach((job) => job.reject(error)),
      )
      .finally(() => {
        this.#inFlight -= 1;
        if (this.#inFlight === 0) this.#sendNext();
      });
  }

  /** As many writes as fit into one message, or one long write, or one other task. */
  #takeBatch(): Job[] {
    const first = this.#jobs.shift();
    if (!first) return [];
    const batch = [first];
    let bytes = first.bytes.length;
    for (let next = this.#jobs[0]; next && !first.run && !next.run; next = this.#jobs[0]) {
      bytes += next.bytes.length;
      if (bytes > MAX_WRITE_BYTES) break;
      batch.push(next);
      this.#jobs.shift();
    }
    return batch;
  }

  /** A long write is sent in pieces. A piece that is not accepted ends it, so that there is no gap. */
  async #sendAll(bytes: Uint8Array): Promise<WriteStatus> {
    for (let start = 0; ; start += MAX_WRITE_BYTES) {
      const writeId = `${this.#idPrefix}${this.#nextWriteId}`;
      this.#nextWriteId += 1;
      const status = await this.#send({ bytes: bytes.subarray(start, start + MAX_WRITE_BYTES), writeId });
      if (status !== 'accepted' || start + MAX_WRITE_BYTES >= bytes.length) return status;
    }
  }
}
