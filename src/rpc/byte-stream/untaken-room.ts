import { ExecError } from '../../protocol/errors.js';

/**
 * Bytes that the streams of a session may hold for readers that have stopped, beyond the share that each of them always has.
 * An honest sender has no more of them on a line than the account of its connection allows; what earlier connections
 * brought is there as well.
 */
const MAX_UNTAKEN_BYTES = 256 * 1024 * 1024;

/** What all streams of a session have received and not passed on, as far as it exceeds their shares. */
export class UntakenRoom {
  #used = 0;

  /** Exchanges what one stream holds for another amount. Throws if there is no room for it. */
  exchange(held: number, wanted: number): number {
    const used = this.#used - held + wanted;
    if (wanted > held && used > MAX_UNTAKEN_BYTES)
      throw new ExecError('protocolViolation', 'The other side sent more than programs take.');
    this.#used = used;
    return wanted;
  }
}
