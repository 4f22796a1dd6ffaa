import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { BusChannel, BusShares, Kind, readDatagram, resetDatagram, TICK_MS } from '../channel/index.js';
import { UnfinishedMessages } from '../../transport/unfinished-messages.js';
import type { FleetSettings } from './bus-settings.js';
import { connectToNats } from './connect.js';
import { isFirstHand } from './first-hand.js';
import { NatsClock } from './nats-clock.js';

/** How many channels a bus connection carries. */
export const MAX_CHANNELS = 2048;
/** Refused subjects that are remembered. */
const MAX_REFUSALS = 100;
/** Status of a message that the NATS server itself sends if there is no subscriber. */
const NO_RESPONDERS = 503;

/** The subjects of a channel, from our side. */
export interface Route {
  /** Where the other side listens. */
  readonly to: string;
  /** Where we listen. */
  readonly from: string;
}

/** The reports of the library that mean that a NATS node has come or gone. */
const NODES_CHANGED: readonly string[] = ['disconnect', 'reconnect', 'update', 'ldm'];
/** By then, a node that was started again has caught up, and machines that were connected to it are back. */
const SETTLE_MS = 5_000;

export interface ChannelPlace extends Route {
  readonly label: string;
  /** What the other side granted at first. */
  readonly credit: number;
  /** What we granted the other side at first. */
  readonly granted: number;
  readonly ended?: () => void;
}

/** A connection to NATS with the channels on it. */
export class Bus {
  readonly nats: NatsConnection;
  readonly shares = new BusShares();
  readonly clock = new NatsClock();
  /** By the subject on which we listen. */
  readonly #channels = new Map<string, BusChannel>();
  readonly #unfinished = new UnfinishedMessages();
  readonly #lost: (() => void)[] = [];
  /** Subjects the NATS server has refused us. */
  readonly #refused = new Set<string>();
  #ticking: NodeJS.Timeout | undefined;
  #isConnected = true;
  #settledAt = 0;

  private constructor(nats: NatsConnection) {
    this.nats = nats;
    void this.#followStatus();
  }

  /** `yields`: when a NATS node is lost, connections with channels go first. */
  static async connect(settings: FleetSettings, label: string, { yields = false } = {}): Promise<Bus> {
    let bus: Bus | undefined;
    const isIdle = (): boolean => yields && bus?.channelCount === 0;
    bus = new Bus(await connectToNats(settings, { label, isIdle }));
    return bus;
  }

  /** False while another NATS node is looked for, and after the end. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** False for a while after a NATS node has come or gone: a new one does not know yet what the others know. */
  get isSettled(): boolean {
    return performance.now() >= this.#settledAt;
  }

  get channelCount(): number {
    return this.#channels.size;
  }

  channel(from: string): BusChannel | undefined {
    return this.#channels.get(from);
  }

  /** Opens our end of a channel. */
  openChannel({ to, from, label, credit, granted, ended }: ChannelPlace): BusChannel {
    const channel: BusChannel = new BusChannel({
      label,
      credit,
      granted,
      shares: this.shares,
      unfinished: this.#unfinished.of(() => channel.destroy('too many messages are unfinished')),
      post: (datagram, { asks }) => this.post(to, datagram, asks ? { reply: from } : {}),
      flush: () => this.flush(),
      ended: () => {
        this.#channels.delete(from);
        if (this.#channels.size === 0) this.#stopTicking();
        ended?.();
      },
    });
    this.#channels.set(from, channel);
    this.#ticking ??= this.#tick();
    return channel;
  }

  /** Routes what arrives on `subject` to the channels. `unknown` gets what belongs to none. */
  carry(subject: string, unknown: (subject: string) => void = () => undefined): void {
    this.listen(subject, (message) => this.#arrived(message, unknown));
  }

  /** Answers requests on `subject`, to the subject that `to` returns. No answer is sent if that is undefined. */
  answer(subject: string, to: (message: Msg) => string | undefined, answer: (message: Msg) => object): void {
    this.listen(subject, (message) => {
      const where = to(message);
      if (where !== undefined) this.post(where, Buffer.from(JSON.stringify(answer(message))));
    });
  }

  /** Listens only to those who may publish on a subject. Returns an unsubscribe function. `failed`: we may not listen there. */
  listen(
    subject: string,
    onMessage: (message: Msg) => void,
    failed: () => void = () => undefined,
  ): () => void {
    const subscription = this.nats.subscribe(subject, {
      callback: (error, message) => {
        if (error) failed();
        else if (isFirstHand(message)) onMessage(message);
      },
    });
    return () => subscription.unsubscribe();
  }

  /** Tells the other side that its channel is not known here. */
  refuse(to: string, reason: string): void {
    this.post(to, resetDatagram(reason));
  }

  /** Sends, or not: while there is no connection, everything is lost and sent again later. */
  post(subject: string, datagram: Uint8Array, options: { reply?: string } = {}): void {
    if (this.nats.isClosed()) return;
    this.nats.publish(subject, datagram, options);
  }

  /** Whether the NATS server has refused us a subject, or any. Call it after `flush`. */
  async isRefused(subject?: string): Promise<boolean> {
    // Refusals arrive before the answer to a flush, and are noted one turn later.
    await new Promise((resolve) => setImmediate(resolve));
    return subject === undefined ? this.#refused.size > 0 : this.#refused.has(subject);
  }

  async flush(): Promise<void> {
    await this.nats.flush().catch(() => undefined);
  }

  /** Calls `listener` if the connection ends for good, as when credentials expire. */
  onLost(listener: () => void): void {
    this.#lost.push(listener);
  }

  /** Ends the connection and the channels on it. */
  async close(reason: string): Promise<void> {
    for (const channel of [...this.#channels.values()]) channel.destroy(reason);
    await this.flush();
    await this.nats.close();
  }

  #arrived(message: Msg, unknown: (subject: string) => void): void {
    const channel = this.#channels.get(message.subject);
    if (message.headers?.code === NO_RESPONDERS) return channel?.nobody();
    const datagram = readDatagram(message.data);
    // It may have been sent here as a reply by anyone, so it says nothing about the other side.
    if (!datagram) return;
    if (channel) channel.receive(datagram);
    else if (datagram.kind !== Kind.reset) unknown(message.subject);
  }

  #tick(): NodeJS.Timeout {
    const timer = setInterval(() => {
      for (const channel of [...this.#channels.values()]) channel.tick();
    }, TICK_MS);
    return timer.unref();
  }

  #stopTicking(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.nats.status()) {
      if (NODES_CHANGED.includes(status.type)) this.#settledAt = performance.now() + SETTLE_MS;
      if (status.type === 'disconnect') this.#isConnected = false;
      if (status.type === 'reconnect') this.#isConnected = true;
      // What was sent to the lost node may be lost, too.
      if (status.type === 'reconnect') for (const channel of this.#channels.values()) channel.synchronize();
      if (status.type === 'error') this.#noteRefusal(status.error);
    }
    this.#isConnected = false;
    this.#ended();
  }

  #noteRefusal(error: Error & { subject?: string }): void {
    if (error.name !== 'PermissionViolationError' || error.subject === undefined) return;
    if (this.#refused.size < MAX_REFUSALS) this.#refused.add(error.subject);
  }

  #ended(): void {
    for (const channel of [...this.#channels.values()])
      channel.finish({ clean: false, message: 'the connection to the fleet was closed' });
    for (const listener of this.#lost) listener();
  }
}
