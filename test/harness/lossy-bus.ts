import { BusChannel, BusShares, readDatagram } from '../../src/fleet/channel/index.js';
import { seededRandom } from './random.js';

export interface LossyOptions {
  readonly seed?: number;
  /** How often a datagram is lost, repeated or delayed: 0 to 1. */
  readonly loss?: number;
  readonly repeat?: number;
  readonly late?: number;
}

/** Two ends of a channel over a bus that loses, repeats and reorders. Time passes only by `tick`. */
export class LossyBus {
  readonly ends: readonly [BusChannel, BusChannel];
  readonly shares = [new BusShares(), new BusShares()] as const;
  /** How many ends have ended. */
  ended = 0;
  /** Datagrams that the ends have sent, lost ones included. */
  posted = 0;
  isCut = false;
  readonly #random: () => number;
  readonly #options: LossyOptions;
  #late: (() => void)[] = [];

  constructor(options: LossyOptions = {}) {
    this.#options = options;
    this.#random = seededRandom(options.seed ?? 1);
    const granted = this.shares[0].first;
    const make = (index: 0 | 1): BusChannel =>
      new BusChannel({
        label: `end ${index}`,
        credit: granted,
        granted,
        shares: this.shares[index],
        unfinished: { grow: () => undefined, forget: () => undefined },
        post: (datagram) => this.#carry(Buffer.from(datagram), index === 0 ? 1 : 0),
        flush: async () => undefined,
        ended: () => (this.ended += 1),
      });
    this.ends = [make(0), make(1)];
  }

  /** A tenth of a second passes. */
  async tick(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (const deliver of this.#late.splice(0)) deliver();
    for (const end of this.ends) end.tick();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Everything under way arrives, and what is said in answer to it, in no time. */
  async pass(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  async tickUntil(condition: () => boolean, limit = 5000): Promise<void> {
    for (let ticks = 0; !condition(); ticks += 1) {
      if (ticks === limit) throw new Error('the channel stands still');
      await this.tick();
    }
  }

  #carry(bytes: Buffer, to: 0 | 1): void {
    this.posted += 1;
    const { loss = 0, repeat = 0, late = 0 } = this.#options;
    if (this.isCut || this.#random() < loss) return;
    const deliver = (): void => {
      const datagram = readDatagram(bytes);
      if (datagram) this.ends[to].receive(datagram);
    };
    if (this.#random() < late) this.#late.push(deliver);
    else setImmediate(deliver);
    if (this.#random() < repeat) this.#late.push(deliver);
  }
}

/** What an end has received. */
export class Heard {
  readonly messages: (string | Uint8Array)[] = [];
  closed: { clean: boolean; message: string; silent?: boolean } | undefined;

  constructor(channel: BusChannel) {
    channel.open({
      message: (text) => this.messages.push(text),
      binary: (data) => this.messages.push(Buffer.from(data)),
      closed: (reason) => (this.closed = reason),
    });
  }
}
