import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { ExecError } from '../protocol/errors.js';
import { after } from '../protocol/max-timer.js';
import { BinaryMessage, type Channel, type ChannelReceiver, type OutgoingMessage } from '../rpc/index.js';
import { WebSocketChannel } from './websocket-channel.js';
import { bearerHeader, type DialFailure, explainAnswer, explainError } from './dial-failure.js';
import { DEFAULT_CONNECT_TIMEOUT_MS, type DialOptions, type DialTarget } from './dial-target.js';
import { MESSAGE_DEFLATE } from './websocket-deflate.js';
import { inflateWithin } from './websocket-inflate.js';
import { writeFrame } from './websocket-frames.js';
import { answerPings } from './websocket-pongs.js';
import { LIVENESS_TICK_MS, watchLiveness } from './websocket-watch.js';

/** Largest message accepted. Servers send whole files in one message: 128 MiB plus the envelope. */
const MAX_MESSAGE_BYTES = 144 * 1024 * 1024;
/** Longer messages are fragmented: Codex refuses frames above 16 MiB, but not long messages. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

/** Connects with the `ws` package. What browsers must never see is loaded here. */
export async function dialInNode(target: DialTarget, options: DialOptions): Promise<Channel> {
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  const [{ WebSocket }, { createInflateRaw }] = await Promise.all([import('ws'), import('node:zlib')]);
  const leavesUnmasked = !hasIntermediaries(target);
  const socket = new WebSocket(urlOf(target), [...(options.protocols ?? [])], {
    // The server decides what is compressed. A local socket is never too slow.
    perMessageDeflate: target.address.kind === 'url' && MESSAGE_DEFLATE,
    maxPayload: MAX_MESSAGE_BYTES,
    autoPong: false,
    headers: headersOf(options),
    ...(leavesUnmasked ? { generateMask: leaveUnmasked } : {}),
  });
  answerPings(socket);
  const channel = new DialledChannel(socket, target.label, { leavesUnmasked });
  const connection = await opened(socket, target, {
    timeoutMs: connectTimeoutMs,
    hasToken: options.authBearerToken !== undefined,
  });
  channel.connection = connection;
  inflateWithin(socket, { createInflateRaw, stream: connection, maxBytes: MAX_MESSAGE_BYTES });
  const silent = (): void => channel.giveUp();
  watchLiveness({ socket, connection, tickMs: options.livenessTickMs ?? LIVENESS_TICK_MS, silent });
  return channel;
}

/** Leaves incoming messages in the socket until a receiver is attached, and fragments long outgoing ones. */
class DialledChannel extends WebSocketChannel {
  /** The TCP or TLS socket, once open. */
  connection: Socket | undefined;
  readonly #socket: WebSocket;
  readonly #leavesUnmasked: boolean;
  #silent = false;

  constructor(socket: WebSocket, label: string, { leavesUnmasked }: { leavesUnmasked: boolean }) {
    super(socket, label);
    this.#socket = socket;
    this.#leavesUnmasked = leavesUnmasked;
  }

  override open(receiver: ChannelReceiver): void {
    super.open({
      ...receiver,
      closed: (reason) => receiver.closed(this.#silent ? { ...reason, silent: true } : reason),
    });
    // The socket may have closed before a receiver was attached.
    if (this.#socket.readyState === this.#socket.CLOSED) {
      setImmediate(() => receiver.closed({ clean: false, message: 'the socket was closed' }));
    }
    this.resume();
  }

  /** The server was silent for too long. */
  giveUp(): void {
    this.#silent = true;
    this.destroy('nothing arrived from the server');
  }

  /** Closes and hangs up as soon as the Close frame has left. */
  leave(reason: string): void {
    this.close(reason);
    this.connection?.destroySoon();
  }

  override send(message: OutgoingMessage, flushed: () => void): void {
    // A server that accepts binary frames accepts them whole. A UTF-16 code unit takes at most three bytes, so shorter
    // texts certainly fit.
    if (message instanceof BinaryMessage || message.length * 3 <= MAX_FRAME_BYTES)
      return this.#sendWhole(message, flushed);
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const bytes = typeof message === 'string' ? Buffer.from(message) : message;
    for (let start = 0; start < bytes.length; start += MAX_FRAME_BYTES) {
      const fin = start + MAX_FRAME_BYTES >= bytes.length;
      const frame = bytes.subarray(start, start + MAX_FRAME_BYTES);
      this.#socket.send(frame, { binary: false, compress: false, fin }, fin ? () => flushed() : undefined);
    }
  }

  /** `ws` copies what it masks, and needs a message in one piece. */
  #sendWhole(message: OutgoingMessage, flushed: () => void): void {
    const { connection: stream } = this;
    if (!stream || !this.#leavesUnmasked) return super.send(message, flushed);
    if (this.#socket.readyState === this.#socket.OPEN)
      writeFrame({ stream, sender: 'client' }, message, () => flushed());
  }
}

/**
 * Masks keep those in between from taking a message for something else (RFC 6455, 10.3). Where nobody can be in between,
 * nothing is gained by changing every byte and changing it back.
 */
function hasIntermediaries({ address }: DialTarget): boolean {
  if (address.kind === 'unix') return false;
  const { protocol, hostname } = new URL(address.url);
  return protocol === 'ws:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}

/** A mask of zeros: `ws` then copies nothing. */
function leaveUnmasked(mask: Uint8Array): void {
  mask.fill(0);
}

function headersOf({ authBearerToken, requestId }: DialOptions): Record<string, string> {
  return {
    ...(authBearerToken === undefined ? {} : { authorization: headerText(bearerHeader(authBearerToken)) }),
    ...(requestId === undefined ? {} : { 'x-request-id': headerText(requestId) }),
  };
}

/** Node sends each character of a header as one byte, so this yields UTF-8. */
function headerText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The address in the form `ws` expects. It takes socket paths as part of a URL and passes them on unmodified. */
function urlOf({ address }: DialTarget): string {
  if (address.kind === 'url') return address.url;
  const { path } = address;
  if (encodeURI(path) !== path || /[:?#]/.test(path)) {
    throw new ExecError(
      'invalidConfiguration',
      'The path of a unix socket may hold letters, digits and plain punctuation only.',
    );
  }
  return `ws+unix:${path}:/`;
}

function opened(
  socket: WebSocket,
  { label, address }: DialTarget,
  { timeoutMs, hasToken }: { timeoutMs: number; hasToken: boolean },
): Promise<Socket> {
  const secure = address.kind === 'url' && address.url.startsWith('wss:');
  return new Promise((resolve, reject) => {
    let connection: Socket;
    const refuse = (why: string, data: DialFailure['data'], cause?: Error): void => {
      stop();
      reject(new ExecError('notConnected', `Cannot connect to ${label}: ${why}.`, { data, cause }));
    };
    // The timer of `ws` restarts with every byte that arrives, so we use our own.
    const stop = after(timeoutMs, () => {
      refuse(
        `nothing answers there within ${timeoutMs / 1000} s. Check the address, and firewalls in between`,
        {},
      );
      socket.terminate();
    });
    socket.once('upgrade', (response) => {
      connection = response.socket;
    });
    socket.once('open', () => {
      stop();
      socket.pause();
      resolve(connection);
    });
    // Stays for the life of the socket: an error event without a listener would crash the process.
    socket.on('error', (error) => refuse(explainError(error, { secure }), {}, error));
    socket.once('unexpected-response', (request, response) => {
      void explainAnswer(response, { hasToken }).then(({ why, data }) => {
        refuse(why, data);
        request.destroy();
      });
    });
  });
}
