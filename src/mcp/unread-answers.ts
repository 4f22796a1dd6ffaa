import type { ServerResponse } from 'node:http';

/** Bytes of answers that clients have not read, on all connections together. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/**
 * Answers on their way to clients that may not read them. Over HTTP each has a connection of its own, so there is no point
 * at which to stop reading requests: beyond the limit, the answers that have waited longest are given up instead.
 */
export class UnreadAnswers {
  readonly #maxBytes: number;
  /** In the order in which they began. */
  readonly #open = new Set<ServerResponse>();

  constructor(maxBytes = MAX_UNREAD_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Counts what is written to a response. */
  watch(response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    // Both have several signatures, all of which are passed on.
    response.write = ((...args: unknown[]) => {
      const hasRoom = write(...args);
      this.#enforce();
      return hasRoom;
    }) as typeof response.write;
    response.end = ((...args: unknown[]) => {
      end(...args);
      this.#enforce();
      return response;
    }) as typeof response.end;
  }

  #enforce(): void {
    const waiting = [...this.#open].filter(({ writableLength }) => writableLength > 0);
    let bytes = waiting.reduce((sum, { writableLength }) => sum + writableLength, 0);
    for (const response of waiting) {
      if (bytes <= this.#maxBytes) return;
      bytes -= response.writableLength;
      response.destroy();
    }
  }
}
