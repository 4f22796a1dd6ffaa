import {
  type Channel,
  type ChannelReceiver,
  type CloseReason,
  messageText,
  type OutgoingMessage,
  PartCollector,
  type PartPlace,
} from '../rpc/index.js';

/** Two connected channels, for tests and for a server in the same process. */
export function createMemoryChannels(): [Channel, Channel] {
  const left = new MemoryChannel('memory:left');
  const right = new MemoryChannel('memory:right');
  left.join(right);
  right.join(left);
  return [left, right];
}

/** Delivers in a later turn of the event loop, as a socket would, so that calls never re-enter their sender. */
class MemoryChannel implements Channel {
  readonly label: string;
  #other: MemoryChannel | undefined;
  #receiver: ChannelReceiver | undefined;
  #inbox: { text: string; flushed: () => void }[] = [];
  readonly #parts = new PartCollector();
  #scheduled = false;
  #paused = false;
  #closing: CloseReason | undefined;
  #ended = false;

  constructor(label: string) {
    this.label = label;
  }

  join(other: MemoryChannel): void {
    this.#other = other;
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (!this.#closing) this.#other?.accept(messageText(message), flushed);
  }

  sendPart(part: Uint8Array, { isLast }: PartPlace, flushed: () => void): void {
    const message = this.#parts.add(part, isLast);
    if (message === null) setImmediate(flushed);
    else this.send(message, flushed);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  close(reason: string): void {
    this.finish({ clean: true, message: reason });
    this.#other?.finish({ clean: true, message: reason });
  }

  reject(reason: string): void {
    this.close(reason);
  }

  destroy(reason: string): void {
    this.#inbox = [];
    this.finish({ clean: false, message: reason });
    this.#other?.finish({ clean: false, message: reason });
  }

  accept(text: string, flushed: () => void): void {
    this.#inbox.push({ text, flushed });
    this.#schedule();
  }

  finish(reason: CloseReason): void {
    this.#closing ??= reason;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#ended || !this.#receiver) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    while (!this.#paused && !this.#ended) {
      const next = this.#inbox.shift();
      if (!next) break;
      next.flushed();
      this.#receiver?.message(next.text);
    }
    if (this.#closing && this.#inbox.length === 0 && !this.#ended) {
      this.#ended = true;
      this.#receiver?.closed(this.#closing);
    }
  }
}
