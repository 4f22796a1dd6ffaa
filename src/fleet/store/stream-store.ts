import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../protocol/errors.js';
import type { Bus } from '../bus/bus.js';
import { loadJetStream } from '../bus/nats-library.js';
import { OrderedReader } from './ordered-reader.js';
import { isConflict, isPassingFailure, notPrepared, noJetStream, noPermission } from './store-errors.js';

/** How long a stream may have no leader before we give up: 5 to 9 s were seen after its node was killed. */
const PATIENCE_MS = 30_000;
const REQUEST_TIMEOUT_MS = 2_000;
const TRY_AGAIN_MS = 100;
/** Says in which stream a message was meant to be stored; NATS refuses it elsewhere. */
const EXPECTED_STREAM = 'Nats-Expected-Stream';

/** A message in a stream. */
export interface Stored {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  header(name: string): string | undefined;
  /** When it was stored, by the clock of the NATS server. */
  readonly timeMs: number;
}

export interface PutOptions {
  /** Stores it once, however often it is sent. */
  readonly msgId: string;
  /** The number of the last message on this subject; 0: there is none. Another one is a conflict. */
  readonly after?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
}

export interface WatchOptions {
  /** The next one is delivered when this has resolved. */
  readonly onMessage: (message: Stored) => Promise<void> | void;
  /** Called when everything that was stored before has been delivered. */
  readonly onCaughtUp?: () => void;
  readonly signal: AbortSignal;
  /** Only the last message on each subject. Default true. */
  readonly lastOnly?: boolean;
}

/**
 * A stream in JetStream: the last message on each subject, changed only by those who know the one before. While the stream
 * has no leader, everything waits.
 */
export class StreamStore {
  readonly name: string;
  readonly #bus: Bus;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;

  private constructor(name: string, bus: Bus, client: JetStreamClient, manager: JetStreamManager) {
    this.name = name;
    this.#bus = bus;
    this.#client = client;
    this.#manager = manager;
  }

  /** Fails if these NATS servers have no JetStream. */
  static async open(bus: Bus, name: string): Promise<StreamStore> {
    if (!bus.nats.info?.jetstream) throw noJetStream();
    const { jetstream, jetstreamManager } = await loadJetStream();
    const options = { timeout: REQUEST_TIMEOUT_MS };
    const manager = await jetstreamManager(bus.nats, { ...options, checkAPI: false });
    return new StreamStore(name, bus, jetstream(bus.nats, options), manager);
  }

  /** Stores a message. Resolves to its number, or null if somebody else has changed the subject. */
  async put(subject: string, data: string | Uint8Array, options: PutOptions): Promise<number | null> {
    const { msgId, after, headers = {}, patienceMs } = options;
    const { headers: newHeaders } = await import('@nats-io/transport-node');
    return await this.#patiently(
      subject,
      async () => {
        const all = newHeaders();
        for (const [key, value] of Object.entries(headers)) all.set(key, value);
        try {
          const { seq } = await this.#client.publish(subject, data, {
            msgID: msgId,
            headers: all,
            timeout: REQUEST_TIMEOUT_MS,
            expect: {
              streamName: this.name,
              ...(after === undefined ? {} : { lastSubjectSequence: after }),
            },
          });
          return seq;
        } catch (error) {
          if (!isConflict(error)) throw error;
          // An earlier try may have been stored without our being told.
          const last = await this.get(subject);
          return last?.header('Nats-Msg-Id') === msgId ? last.seq : null;
        }
      },
      patienceMs,
    );
  }

  /** The last message on a subject, as one of the nodes knows it: it may be a little behind. */
  async get(subject: string): Promise<Stored | null> {
    const message = await this.#patiently(subject, () =>
      this.#manager.direct.getMessage(this.name, { last_by_subj: subject }),
    );
    if (!message || message.header.get(EXPECTED_STREAM) !== this.name) return null;
    return {
      subject: message.subject,
      seq: message.seq,
      data: message.data,
      timeMs: message.time.getTime(),
      header: (name) => message.header.get(name) || undefined,
    };
  }

  /** The last message on each subject that matches. */
  async scan(filter: string): Promise<Stored[]> {
    const found: Stored[] = [];
    const stop = new AbortController();
    await new Promise<void>((resolve, reject) => {
      this.watch(filter, {
        onMessage: (message) => void found.push(message),
        onCaughtUp: resolve,
        signal: stop.signal,
      }).catch(reject);
    }).finally(() => stop.abort());
    return found;
  }

  /** Delivers messages in order, from the beginning on, until the signal. */
  async watch(filter: string, options: WatchOptions): Promise<void> {
    const { signal, lastOnly = true, onCaughtUp } = options;
    let delivered = 0;
    let isCaughtUp = false;
    const caughtUp = (): void => {
      if (!isCaughtUp) onCaughtUp?.();
      isCaughtUp = true;
    };
    while (!signal.aborted) {
      const reader = new OrderedReader({
        nats: this.#bus.nats,
        manager: this.#manager,
        stream: this.name,
        filter,
        after: delivered,
        lastOnly,
        onEmpty: caughtUp,
        onMessage: async (message, { seq, timeMs, pending }) => {
          const { subject, data, headers } = message;
          const header = (name: string): string | undefined => headers?.get(name) || undefined;
          if (header(EXPECTED_STREAM) === this.name)
            await options.onMessage({ subject, data, seq, timeMs, header });
          delivered = seq;
          if (pending === 0) caughtUp();
        },
      });
      const creation = `$JS.API.CONSUMER.CREATE.${this.name}`;
      await this.#patiently(creation, () => reader.run(signal));
      if (!signal.aborted) await pause(TRY_AGAIN_MS);
    }
  }

  async #patiently<Result>(
    subject: string,
    work: () => Promise<Result>,
    patienceMs = PATIENCE_MS,
  ): Promise<Result> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (error instanceof ExecError) throw error;
        if (await this.#bus.isRefused(subject)) throw noPermission(error);
        if (!isPassingFailure(error)) throw (await this.#isMissing()) ? notPrepared(error) : error;
        if (this.#bus.nats.isClosed() || performance.now() > deadline)
          throw new ExecError('notConnected', 'JetStream does not answer.', { cause: error });
        if (await this.#isMissing()) throw notPrepared(error);
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  /** True if nobody has created the stream. */
  async #isMissing(): Promise<boolean> {
    try {
      await this.#manager.streams.info(this.name);
      return false;
    } catch (error) {
      return error instanceof Error && /stream not found/.test(error.message);
    }
  }
}
