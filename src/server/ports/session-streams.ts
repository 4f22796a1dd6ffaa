import type { Socket } from 'node:net';
import { ExecError, type ExecResult, STREAM_METHODS, type StreamMessage } from '../../protocol/index.js';
import type { SocketReader } from '../../host/index.js';
import { BufferPool, streamLine, UntakenRoom } from '../../rpc/index.js';
import type { PushTarget } from '../push/output-pusher.js';
import { SocketStream } from './socket-stream.js';
import { READ_BYTES, streamReader } from './stream-reader.js';

/** Streams that a session may have open. Each has 128 KiB in flight in each direction, or more within the connection's account. */
const MAX_STREAMS = 1_024;
/** The same for all sessions of a server. */
const MAX_SERVER_STREAMS = 4_096;

/** Enough for a busy stream: it has this much in flight on a fast line. */
const KEPT_BUFFERS = 32;

type Connected = Omit<ExecResult<'port/connect'>, 'received'>;

/** Connects a socket that gives what it reads to `reader`. */
type ConnectStream = (reader: SocketReader) => Promise<{ socket: Socket; result: Connected }>;

interface OpenStream {
  readonly socket: SocketStream;
  readonly connected: Promise<Connected>;
}

let serverStreams = 0;

/** The connections to ports that one session has open. They outlive its connection, as the session does. */
export class SessionStreams {
  readonly #streams = new Map<string, OpenStream>();
  /**
   * Not shared with other sessions: a client that acknowledges bytes before they have left is then sent later bytes of its own
   * streams, and nothing of others.
   */
  readonly #buffers = new BufferPool({ bytes: READ_BYTES, kept: KEPT_BUFFERS });
  readonly #room = new UntakenRoom();
  #target: PushTarget | undefined;
  #closed = false;

  /** How many are open. They end with this server. */
  get size(): number {
    return this.#streams.size;
  }

  /** Streams continue when the client names them. */
  attach(target: PushTarget): void {
    this.#target = target;
  }

  detach(): void {
    this.#target = undefined;
    for (const { socket } of this.#streams.values()) socket.stream.detach();
  }

  /** Opens a stream, or returns the one that was opened by an earlier request whose answer was lost. */
  async open(streamId: string, connect: ConnectStream): Promise<ExecResult<'port/connect'>> {
    const opened = this.#streams.get(streamId) ?? this.#begin(streamId, connect);
    const result = await opened.connected;
    return { ...result, received: opened.socket.stream.received };
  }

  /** Continues those that are named, and ends the others. */
  resume(named: readonly { streamId: string; received: number }[]): { streamId: string; received: number }[] {
    const names = new Set(named.map(({ streamId }) => streamId));
    for (const [streamId, { socket }] of this.#streams)
      if (!names.has(streamId)) socket.stream.fail(abandoned());
    return named.flatMap(({ streamId, received }) => {
      const stream = this.#streams.get(streamId)?.socket.stream;
      if (!stream) return [];
      // The answer leaves first.
      setImmediate(() => this.#attach(streamId, received));
      return [{ streamId, received: stream.received }];
    });
  }

  /** Messages of streams that have ended are ignored: they were still in transit. */
  receive(message: StreamMessage): void {
    const stream = this.#streams.get(message.streamId)?.socket.stream;
    if (message.kind === 'data') stream?.receive(message);
    else if (message.kind === 'ack') stream?.acknowledged(message.offset);
    else stream?.fail(abandoned());
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of [...this.#streams.values()]) socket.stream.fail(abandoned());
  }

  #begin(streamId: string, connect: ConnectStream): OpenStream {
    if (this.#closed) throw new ExecError('sessionNotFound', 'The session has ended.');
    if (this.#streams.size >= MAX_STREAMS || serverStreams >= MAX_SERVER_STREAMS)
      throw new ExecError('tooManyStreams', `At most ${MAX_STREAMS} streams can be open at a time.`);
    serverStreams += 1;
    const socket = new SocketStream(this.#room, () => {
      if (this.#streams.delete(streamId)) serverStreams -= 1;
    });
    const opened = { socket, connected: this.#connect(socket, connect) };
    this.#streams.set(streamId, opened);
    // The client may be gone when it fails.
    opened.connected.catch(() => undefined);
    setImmediate(() => this.#attach(streamId, 0));
    return opened;
  }

  async #connect(stream: SocketStream, connect: ConnectStream): Promise<Connected> {
    try {
      const { socket, result } = await connect(streamReader(this.#buffers, stream.stream));
      stream.join(socket);
      return result;
    } catch (error) {
      stream.stream.fail();
      throw error;
    }
  }

  #attach(streamId: string, received: number): void {
    const target = this.#target;
    const stream = this.#streams.get(streamId)?.socket.stream;
    if (!target || !stream) return;
    const carrier = {
      account: target.account,
      sendsBytes: target.sendsBytes,
      send: (message: Parameters<PushTarget['send']>[0]) => target.send(message),
      schedule: (source: typeof stream) => target.queue.schedule(source),
      remove: (source: typeof stream) => target.queue.remove(source),
    };
    stream.attach(streamLine(streamId, carrier, STREAM_METHODS), received);
  }
}

function abandoned(): ExecError {
  return new ExecError('streamReset', 'The client is gone.');
}
