import { isBinaryFrame, type ChannelReceiver } from '../../rpc/index.js';
import type { UnfinishedPart } from './bus-channel-options.js';
import { type Datagram, Flag, FRAGMENT_COST, MAX_FRAGMENT_BYTES } from './datagram.js';

/** Largest message accepted, the same as over a WebSocket: whole files travel in one message. */
const MAX_MESSAGE_BYTES = 144 * 1024 * 1024;
/** The same in fragments that are full. */
const MAX_MESSAGE_COST = MAX_MESSAGE_BYTES * (1 + FRAGMENT_COST / MAX_FRAGMENT_BYTES);

/** Joins fragments into messages. */
export class Assembly {
  readonly #unfinished: UnfinishedPart;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The same, and what keeping the fragments takes: there may be millions of empty ones. */
  #cost = 0;

  constructor(unfinished: UnfinishedPart) {
    this.#unfinished = unfinished;
  }

  /** Hands a completed message to `receiver`. Returns why the channel cannot continue, undefined if it can. */
  add({ flags, payload }: Datagram, receiver: ChannelReceiver): string | undefined {
    this.#bytes += payload.length;
    this.#cost += payload.length + FRAGMENT_COST;
    if (this.#cost > MAX_MESSAGE_COST) return 'a message is too long';
    if (!(flags & Flag.last)) {
      this.#parts.push(payload);
      this.#unfinished.grow(payload.length);
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
    this.#cost = 0;
    this.#unfinished.forget();
  }
}
