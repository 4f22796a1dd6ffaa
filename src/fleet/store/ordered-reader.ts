import type { JetStreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';
import type { NatsClock } from '../bus/nats-clock.js';
import { positionOf, type StreamPosition } from './stream-position.js';

/** How often JetStream says that all is well, and how long it may be silent. */
const HEARTBEAT_MS = 1_000;
const SILENCE_MS = 4_000;
/** JetStream forgets a consumer without a listener. */
const FORGOTTEN_AFTER_MS = 30_000;
const NANOS_PER_MS = 1_000_000;
/** Status of a message that is a heartbeat or asks whether we keep up. */
const CONTROL = 100;

export interface OrderedReaderOptions {
  readonly nats: NatsConnection;
  readonly clock: NatsClock;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly filter: string;
  /** Begin after this message; 0: with the first, or the last on each subject. */
  readonly after: number;
  readonly lastOnly: boolean;
  /** The next message is delivered when this has resolved. */
  readonly onMessage: (message: Msg, position: StreamPosition) => Promise<void> | void;
  /** Called if nothing is stored that matches. */
  readonly onEmpty: () => void;
}

/**
 * Reads a stream in order, as long as nothing is missing and JetStream gives signs of life. The subscription is there before
 * anything can be sent to it: a consumer that pulls may ask before all nodes know whom to ask.
 */
export class OrderedReader {
  readonly #options: OrderedReaderOptions;
  readonly #name = randomBytes(8).toString('hex');
  readonly #queue: (() => Promise<void> | void)[] = [];
  #subscription: Subscription | undefined;
  #delivered = 0;
  #heardAt = performance.now();
  #isWorking = false;
  #finish = (): void => undefined;

  constructor(options: OrderedReaderOptions) {
    this.#options = options;
  }

  /** Resolves when the signal ends it, or reading has to begin anew after the last message. */
  async run(signal: AbortSignal): Promise<void> {
    const { nats, clock, manager, stream } = this.#options;
    const finished = new Promise<void>((resolve) => (this.#finish = resolve));
    const { createInbox } = await import('@nats-io/transport-node');
    const inbox = createInbox((nats as unknown as { options: { inboxPrefix?: string } }).options.inboxPrefix);
    this.#subscription = nats.subscribe(inbox, {
      callback: (error, message) => this.#arrived(error, message),
    });
    const timer = setInterval(() => this.#checkSilence(), HEARTBEAT_MS).unref();
    const stop = (): void => this.#finish();
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) return;
      await nats.flush();
      const measured = clock.measure();
      const { num_pending: pending, created } = await manager.consumers.add(stream, this.#config(inbox));
      measured(Date.parse(created));
      this.#heardAt = performance.now();
      if (pending === 0) this.#enqueue(this.#options.onEmpty);
      await finished;
    } finally {
      signal.removeEventListener('abort', stop);
      clearInterval(timer);
      this.#subscription.unsubscribe();
      this.#queue.length = 0;
      void manager.consumers.delete(stream, this.#name).catch(() => undefined);
    }
  }

  #config(inbox: string): Parameters<JetStreamManager['consumers']['add']>[1] {
    const { filter, after, lastOnly } = this.#options;
    return {
      name: this.#name,
      deliver_subject: inbox,
      filter_subject: filter,
      ack_policy: 'none',
      max_deliver: 1,
      num_replicas: 1,
      mem_storage: true,
      flow_control: true,
      idle_heartbeat: HEARTBEAT_MS * NANOS_PER_MS,
      inactive_threshold: FORGOTTEN_AFTER_MS * NANOS_PER_MS,
      ...(after > 0
        ? { deliver_policy: 'by_start_sequence', opt_start_seq: after + 1 }
        : { deliver_policy: lastOnly ? 'last_per_subject' : 'all' }),
    };
  }

  #arrived(error: Error | null, message: Msg): void {
    if (error) return this.#finish();
    this.#heardAt = performance.now();
    if (message.headers?.code === CONTROL) return this.#controlled(message);
    const position = positionOf(message.reply);
    if (!position) return;
    // Something got lost on the way.
    if (position.delivery !== this.#delivered + 1) return this.#finish();
    this.#delivered = position.delivery;
    this.#options.clock.heard(position.timeMs);
    this.#enqueue(() => this.#options.onMessage(message, position));
  }

  #controlled(message: Msg): void {
    const last = Number(message.headers?.get('Nats-Last-Consumer') || this.#delivered);
    if (last > this.#delivered) return this.#finish();
    const stalled = message.headers?.get('Nats-Consumer-Stalled');
    // JetStream continues once we have processed what came before.
    if (message.reply) this.#enqueue(() => void message.respond());
    else if (stalled) this.#enqueue(() => this.#options.nats.publish(stalled));
  }

  #checkSilence(): void {
    if (performance.now() - this.#heardAt > SILENCE_MS) this.#finish();
  }

  #enqueue(work: () => Promise<void> | void): void {
    this.#queue.push(work);
    if (!this.#isWorking) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      for (let next = this.#queue.shift(); next; next = this.#queue.shift()) await next();
    } finally {
      this.#isWorking = false;
    }
  }
}
