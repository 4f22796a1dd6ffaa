import {
  type Channel,
  type ChannelReceiver,
  messageText,
  type OutgoingMessage,
} from '../../src/rpc/index.js';

/** Somebody who asks and, while `deaf`, does not read what is answered. */
export class DeafChannel implements Channel {
  readonly label = 'deaf';
  readonly #unread: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  readonly texts: string[] = [];
  receiver: ChannelReceiver | undefined;
  deaf = true;
  paused = false;
  unreadBytes = 0;

  open(receiver: ChannelReceiver): void {
    this.receiver = receiver;
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    this.unreadBytes += message.length;
    this.#unread.push(flushed);
    if (this.deaf) return;
    this.texts.push(messageText(message));
    queueMicrotask(() => this.readEverything());
    for (const listener of [...this.#listeners]) listener();
  }

  sendPart(part: Uint8Array, _: unknown, flushed: () => void): void {
    this.send(part, flushed);
  }

  /** Delivers a message, as a transport that has it already does even when it is to pause. */
  say(text: string): void {
    this.receiver?.message(text);
  }

  /** Asks until it is no longer heard. Returns how often that was. */
  askUntilPaused(limit: number, text = '{"id":1,"method":"any"}'): number {
    let asked = 0;
    for (; asked < limit && !this.paused; asked += 1) this.say(text);
    return asked;
  }

  readEverything(): void {
    this.unreadBytes = 0;
    for (const flushed of this.#unread.splice(0)) flushed();
  }

  /** Resolves once a text was sent that holds this. Only while it reads. */
  async hears(part: string): Promise<void> {
    if (this.texts.some((text) => text.includes(part))) return;
    await new Promise<void>((resolve) => {
      const listener = (): void => {
        if (!this.texts.at(-1)?.includes(part)) return;
        this.#listeners.delete(listener);
        resolve();
      };
      this.#listeners.add(listener);
    });
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  close(): void {
    this.destroy();
  }

  reject(): void {
    this.destroy();
  }

  destroy(): void {
    const { receiver } = this;
    this.receiver = undefined;
    receiver?.closed({ clean: true, message: 'over' });
  }
}
