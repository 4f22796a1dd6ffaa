import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ExecError } from '../../protocol/errors.js';
import type { Bus } from '../bus/bus.js';
import { loadJetStream } from '../bus/nats-library.js';
import { OrderedReader } from './ordered-reader.js';
import {
  isConflict,
  isPassingFailure,
  isRefusal,
  lastSeqIn,
  notPrepared,
  noJetStream,
  noPermission,
} from './store-errors.js';

/** How long a stream may have no leader before we give up: 5 to 9 s were seen after its node was killed. */
const PATIENCE_MS = 30_000;
const REQUEST_TIMEOUT_MS = 2_000;
const TRY_AGAIN_MS = 100;
/** Says in which stream a message was meant to be stored; NATS refuses it elsewhere. */
const EXPECTED_STREAM = 'Nats-Expected-Stream';
/** JetStream adds it to messages that it reads from a stream for a client. */
const READ_FROM = 'Nats-Stream';
/**
 * What we know a message of ours by. Not the id by which JetStream itself recognizes repeated messages: each one it turns away
 * after the nodes have agreed on it lets their numbering drift apart when one is restarted (nats-server before 2.9.21).
 */
const ID = 'Ew-Id';
/** How long a node may be behind the leader. */
const CATCH_UP_MS = 2_000;
const CATCH_UP_AGAIN_MS = 20;

/** A message in a stream. */
export interface Stored {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  /** Different for each message, and the same on all nodes. */
  readonly id: string;
  header(name: string): string | undefined;
  /** When it was stored, by the clock of the NATS server. */
  readonly timeMs: number;
}

export interface PutOptions {
  /** Identifies the message. Default: a random id. */
  readonly id?: string;
  /**
   * The number of the last message on this subject; 0: there is none. Another one is a conflict. Without it, the message may be
   * stored twice if an answer got lost.
   */
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
 * A stream in JetStream: the last message on each subject, changed only by writers who know the previous one. While the stream
 * has no leader, everything waits.
 */
export class StreamStore {
  readonly name: string;
  readonly #bus: Bus;
  readonly #client: JetStreamClient;
  readonly #manager: JetStreamManager;
  readonly #writer = randomBytes(8).toString('hex');
  #written = 0;

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

  /** The time by the clock of NATS; undefined before anything was read. */
  now(): number | undefined {
    return this.#bus.clock.now();
  }

  /** Stores a message. Resolves to its number, or null if another writer has changed the subject. */
  async put(subject: string, data: string | Uint8Array, options: PutOptions = {}): Promise<number | null> {
    const { after, headers = {}, patienceMs, id = `${this.#writer}.${(this.#written += 1)}` } = options;
    let tries = 0;
    const { headers: newHeaders } = await import('@nats-io/transport-node');
    return await this.#patiently(
      subject,
      async () => {
        const all = newHeaders();
        for (const [key, value] of Object.entries({ ...headers, [ID]: id })) all.set(key, value);
        tries += 1;
        try {
          const { seq } = await this.#client.publish(subject, data, {
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
          // An earlier try may have been stored although we got no confirmation.
          return tries === 1 ? null : await this.#find(subject, id, lastSeqIn(error));
        }
      },
      patienceMs,
    );
  }

  /** The number of the last message on a subject if it is the one with this id; `seq` is its number according to the leader. */
  async #find(subject: string, id: string, seq = Number.POSITIVE_INFINITY): Promise<number | null> {
    const deadline = performance.now() + CATCH_UP_MS;
    for (;;) {
      const last = await this.get(subject);
      if (last?.id === id) return last.seq;
      if ((last?.seq ?? 0) >= seq || performance.now() > deadline) return null;
      await pause(CATCH_UP_AGAIN_MS);
    }
  }

  /** The last message on a subject, as one of the nodes knows it: it may be a little behind. */
  async get(subject: string): Promise<Stored | null> {
    const message = await this.#patiently(subject, () =>
      this.#manager.direct.getMessage(this.name, { last_by_subj: subject }),
    );
    if (!message) return null;
    const { seq, header: headers } = message;
    // Once for our own reading.
    const isOriginal = this.#isMeant(headers) && headers.values(READ_FROM).length === 1;
    return {
      subject: message.subject,
      seq,
      id: headers.get(ID),
      // A message passed on through JetStream proves nothing, but its number counts.
      data: isOriginal ? message.data : new Uint8Array(0),
      timeMs: message.time.getTime(),
      header: (name) => headers.get(name) || undefined,
    };
  }

  /** Otherwise it may come from another stream, and say something else there. */
  #isMeant(headers: MsgHdrs | undefined): boolean {
    return headers?.get(EXPECTED_STREAM) === this.name;
  }

  /** The last message on each subject that matches, or all of them in order. */
  async scan(filter: string, { lastOnly = true }: { lastOnly?: boolean } = {}): Promise<Stored[]> {
    const found: Stored[] = [];
    const stop = new AbortController();
    await new Promise<void>((resolve, reject) => {
      this.watch(filter, {
        onMessage: (message) => void found.push(message),
        onCaughtUp: resolve,
        lastOnly,
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
        clock: this.#bus.clock,
        manager: this.#manager,
        stream: this.name,
        filter,
        after: delivered,
        lastOnly,
        onEmpty: caughtUp,
        onMessage: async (message, { seq, timeMs, pending }) => {
          const { subject, data, headers } = message;
          const header = (name: string): string | undefined => headers?.get(name) || undefined;
          // Anyone who may read a stream can make JetStream store a message again, under any subject.
          if (this.#isMeant(headers) && !headers?.has(READ_FROM))
            await options.onMessage({ subject, data, seq, timeMs, header, id: header(ID) ?? '' });
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
        if (isRefusal(error) || (await this.#bus.isRefused(subject))) throw noPermission(error);
        if (!isPassingFailure(error)) throw (await this.#isMissing()) ? notPrepared(error) : error;
        if (this.#bus.nats.isClosed() || performance.now() > deadline)
          throw new ExecError('notConnected', 'JetStream does not answer.', { cause: error });
        if (await this.#isMissing()) throw notPrepared(error);
        await pause(TRY_AGAIN_MS);
      }
    }
  }

  /** True if the stream does not exist. */
  async #isMissing(): Promise<boolean> {
    try {
      await this.#manager.streams.info(this.name);
      return false;
    } catch (error) {
      return error instanceof Error && /stream not found/.test(error.message);
    }
  }
}
