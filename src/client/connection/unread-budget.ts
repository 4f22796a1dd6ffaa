import type { Channel } from '../../rpc/index.js';

/**
 * Unread output of all processes of one connection to a server without flow control. Past it nothing more is read
 * from that server, answers included, until readers catch up: output is never dropped, and memory stays bounded.
 */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;
/** Reading goes on below this, so that the connection does not stop and start with every chunk. */
const RESUME_BELOW_BYTES = MAX_UNREAD_BYTES / 2;

/** Stops and continues a connection by how much of what it brought is still unread. */
export class UnreadBudget {
  #unreadBytes = 0;
  #channel: Channel | undefined;
  #paused = false;

  get paused(): boolean {
    return this.#paused;
  }

  /** Regulates this channel from now on; none when the server holds back by itself. */
  attach(channel: Channel | undefined): void {
    this.#channel = channel;
    this.#paused = false;
    this.add(0);
  }

  /** Counts output that arrived unread, or, negative, output that was read or let go. */
  add(bytes: number): void {
    this.#unreadBytes += bytes;
    if (this.#unreadBytes >= MAX_UNREAD_BYTES) {
      this.#paused = this.#channel !== undefined;
      // Said again on every arrival: the outbox of the connection pauses and resumes the same channel.
      this.#channel?.pause();
    } else if (this.#paused && this.#unreadBytes < RESUME_BELOW_BYTES) {
      this.#paused = false;
      this.#channel?.resume();
    }
  }
}
