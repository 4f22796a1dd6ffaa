import { closeSync } from 'node:fs';
import { sendMessage, socketPair } from '../host/kernel/index.js';

/** A message that can wait is read within this time, unless the server is busy. */
export const PATIENCE_MS = 20;
/** More messages do not wait. The kernel has room for about five times as many. */
export const MAX_WAITING = 32;

/**
 * Tells a keeper that there are messages for it. A message is safe as soon as it is sent: the keeper reads all of them when the
 * server dies. Reading each at once would cost a start more than everything else that it does for the next server, since the
 * keeper then wants a processor just when the new program does.
 */
export class Bell {
  readonly #fd: number;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `give`: sends the keeper its end, which is closed here afterwards. False if that fails. */
  static create(give: (fd: number) => boolean): Bell | null {
    const [ours, theirs] = socketPair();
    const isGiven = give(theirs);
    closeSync(theirs);
    if (isGiven) return new Bell(ours);
    closeSync(ours);
    return null;
  }

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Call after sending a message that the keeper should read now. Without room for another signal, one is on its way. */
  ring(): void {
    this.#waiting = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    sendMessage(this.#fd, '!');
  }

  /** Call after sending a message that can wait. */
  ringLater(): void {
    this.#waiting += 1;
    if (this.#waiting >= MAX_WAITING) return this.ring();
    this.#timer ??= setTimeout(() => this.ring(), PATIENCE_MS).unref();
  }
}
