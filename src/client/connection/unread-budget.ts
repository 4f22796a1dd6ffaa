import type { Channel } from '../../rpc/index.js';

/**
 * Unread output of all processes of a connection to a server without flow control. Above this, nothing more is read
 * from that server, including answers, until readers catch up: no output is dropped, and memory stays bounded.
 */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
/** Reading resumes below this, so that the connection does not stop and start with every chunk. */
const RESUME_BELOW_BYTES = MAX_UNREAD_BYTES / 2;

/** Pauses and resumes a connection depending on how much of its output is unread. */
export class UnreadBudget {
  #unreadBytes = 0;
  #channel: Channel | undefined;
  #paused = false;

  get unreadBytes(): number {
    return this.#unreadBytes;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** The channel to control from now on; undefined if the server has flow control. */
  attach(channel: Channel | undefined): void {
    this.#channel = channel;
    this.#paused = false;
    this.add(0);
  }

  /** Adds unread bytes; negative once they were read or discarded. */
  add(bytes: number): void {
    this.#unreadBytes += bytes;
    if (this.#unreadBytes >= MAX_UNREAD_BYTES) {
      this.#paused = this.#channel !== undefined;
      // Repeated on every arrival, because the peer's read gate pauses and resumes the same channel.
      this.#channel?.pause();
    } else if (this.#paused && this.#unreadBytes < RESUME_BELOW_BYTES) {
      this.#paused = false;
      this.#channel?.resume();
    }
  }
}
