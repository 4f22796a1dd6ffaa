import { isBinaryFrame, type ChannelReceiver } from '../../rpc/index.js';
import { type Datagram, Flag } from './datagram.js';

/** Largest message accepted, the same as over a WebSocket: whole files travel in one message. */
const MAX_MESSAGE_BYTES = 144 * 1024 * 1024;

/** Joins fragments into messages. */
export class Assembly {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Hands a completed message to `receiver`. Returns why the channel cannot go on, undefined if it can. */
  add({ flags, payload }: Datagram, receiver: ChannelReceiver): string | undefined {
    this.#bytes += payload.length;
    if (this.#bytes > MAX_MESSAGE_BYTES) return 'a message is too long';
    if (!(flags & Flag.last)) {
      this.#parts.push(payload);
      return undefined;
    }
    const whole = this.#parts.length === 0 ? payload : Buffer.concat([...this.#parts, payload], this.#bytes);
    this.discard();
    if (flags & Flag.frame && receiver.binary && isBinaryFrame(whole)) receiver.binary(whole);
    else receiver.message(whole.toString('utf8'));
    return undefined;
  }

  discard(): void {
    this.#parts = [];
    this.#bytes = 0;
  }
}
