import type { Duplex } from 'node:stream';
import type { ConnectOptions } from '../../contract/index.js';
import { ExecError, readStreamMessage, STREAM_METHODS } from '../../protocol/index.js';
import { type ByteStream, streamLine, UntakenRoom } from '../../rpc/index.js';
import type { ClientListener } from '../connection/client-listeners.js';
import type { ExecClient } from '../connection/exec-client.js';
import { streamDuplex } from './stream-duplex.js';

interface OpenStream {
  readonly stream: ByteStream;
  readonly sessionId: string;
  /** The server has answered the connect. */
  connected: boolean;
  attached: boolean;
}

let lastStream = 0;

/** The streams of one client to ports of its server. They go on when the session is resumed. */
export class RemoteStreams implements ClientListener {
  readonly #client: ExecClient;
  readonly #streams = new Map<string, OpenStream>();
  readonly #room = new UntakenRoom();

  constructor(client: ExecClient) {
    this.#client = client;
    client.listen(this);
  }

  /** Resolves when the port has accepted, or before that with `early`: what is written meanwhile is sent right behind. */
  async connect(port: number, options: ConnectOptions = {}): Promise<Duplex> {
    lastStream += 1;
    const streamId = `s${lastStream}`;
    const { stream, duplex } = await streamDuplex(this.#room, () => this.#streams.delete(streamId));
    const { processId, ownOnly, early = false } = options;
    const entry = { stream, sessionId: this.#client.sessionId, connected: false, attached: false };
    this.#streams.set(streamId, entry);
    const connected = this.#open(streamId, entry, {
      port,
      ...(processId === undefined ? {} : { processId }),
      ...(ownOnly ? { ownOnly } : {}),
    });
    // Whatever is written from here on goes behind the request.
    if (this.#client.isOnline) this.#attach(streamId, entry, 0);
    if (early) connected.catch(() => undefined);
    else await whileIgnored(duplex, connected);
    return duplex;
  }

  notified(method: string, params: unknown, bytes?: Uint8Array): void {
    const message = readStreamMessage(method, params, bytes);
    const stream = message && this.#streams.get(message.streamId)?.stream;
    if (!message || !stream) return;
    if (message.kind === 'data') stream.receive(message);
    else if (message.kind === 'ack') stream.acknowledged(message.offset);
    else stream.fail(new ExecError('streamReset', message.message));
  }

  offline(): void {
    for (const entry of this.#streams.values()) {
      entry.attached = false;
      entry.stream.detach();
    }
  }

  online(): void {
    const { sessionId } = this.#client;
    for (const entry of [...this.#streams.values()])
      if (entry.connected && entry.sessionId !== sessionId) entry.stream.fail(lostSession());
    if (this.#streams.size > 0) void this.#resume().catch(() => this.lost());
  }

  lost(): void {
    for (const { stream } of [...this.#streams.values()]) stream.fail(lostSession());
  }

  ended(): void {
    this.lost();
  }

  async #open(
    streamId: string,
    entry: OpenStream,
    request: { port: number; processId?: string; ownOnly?: boolean },
  ): Promise<void> {
    try {
      const { received } = await this.#client.call('port/connect', { streamId, ...request });
      entry.connected = true;
      if (!entry.attached) this.#attach(streamId, entry, received);
    } catch (error) {
      const failure = error instanceof ExecError ? error : lostSession(error);
      entry.stream.fail(failure);
      throw failure;
    }
  }

  /** A stream that the server does not know is lost, unless it is only being opened. */
  async #resume(): Promise<void> {
    const named = [...this.#streams].map(([streamId, { stream }]) => ({
      streamId,
      received: stream.received,
    }));
    const { streams } = await this.#client.call('port/resume', { streams: named });
    const known = new Map(streams.map(({ streamId, received }) => [streamId, received]));
    for (const { streamId } of named) {
      const entry = this.#streams.get(streamId);
      const received = known.get(streamId);
      if (!entry || entry.attached) continue;
      if (received !== undefined) this.#attach(streamId, entry, received);
      // Everything was said, and only the last word about it was lost.
      else if (entry.connected) entry.stream.fail(entry.stream.isSaid ? undefined : lostSession());
    }
  }

  #attach(streamId: string, entry: OpenStream, received: number): void {
    const { peer } = this.#client;
    if (!peer) return;
    entry.attached = true;
    const carrier = {
      account: this.#client.account,
      sendsBytes: peer.sendsBytes,
      send: (message: Parameters<typeof peer.send>[0]) => peer.send(message),
      schedule: (stream: ByteStream) => {
        while (stream.pushOne());
      },
      remove: () => undefined,
    };
    entry.stream.attach(streamLine(streamId, carrier, STREAM_METHODS), received);
  }
}

/** If it fails, the caller hears of it by the promise, and has no stream to listen to. */
async function whileIgnored(duplex: Duplex, connected: Promise<void>): Promise<void> {
  const ignore = (): void => undefined;
  duplex.on('error', ignore);
  await connected;
  duplex.off('error', ignore);
}

function lostSession(cause?: unknown): ExecError {
  return new ExecError('streamReset', 'The connection to the machine was lost, and this stream with it.', {
    cause,
  });
}
