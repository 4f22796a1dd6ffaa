import { ExecError } from '../protocol/errors.js';
import {
  BinaryMessage,
  type Channel,
  type ChannelReceiver,
  messageText,
  type OutgoingMessage,
  PartCollector,
  type PartPlace,
} from '../rpc/index.js';
import { withDeadline } from './deadline.js';
import { DEFAULT_CONNECT_TIMEOUT_MS, type DialOptions, type DialTarget } from './dial-target.js';

/** A browser reports how much is unsent only when asked. */
const FLUSH_POLL_MS = 10;
const NORMAL = 1000;

/** The parts of the browser's WebSocket used here. */
export interface BrowserSocket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
}

interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

const OPEN = 1;
const CLOSED = 3;

/** Connects with the browser's WebSocket. */
export async function dialInBrowser(target: DialTarget, options: DialOptions): Promise<Channel> {
  // Present in every browser, but missing from the types of Node 20.
  const Socket: unknown = Reflect.get(globalThis, 'WebSocket');
  if (typeof Socket !== 'function' || target.address.kind === 'unix') {
    throw new ExecError('unsupported', `There is no way to connect to ${target.label} from here.`);
  }
  const socket = Reflect.construct(Socket, [
    target.address.url,
    [...(options.protocols ?? [])],
  ]) as BrowserSocket;
  const channel = new BrowserChannel(socket, target.label);
  const refused = (why: string): ExecError =>
    new ExecError('notConnected', `Cannot connect to ${target.label}: ${why}.`);
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('close', () => reject(refused('the browser gives no reason')));
  });
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
  try {
    await withDeadline(opened, {
      timeoutMs: connectTimeoutMs,
      what: 'Connecting',
      late: () => refused(`no answer within ${connectTimeoutMs} ms`),
    });
  } catch (error) {
    socket.close();
    throw error;
  }
  return channel;
}

/** One message per WebSocket message. A browser cannot stop reading, so messages are queued here while paused. */
export class BrowserChannel implements Channel {
  readonly label: string;
  readonly carriesBytes = true;
  readonly #socket: BrowserSocket;
  readonly #inbox: (string | ArrayBuffer)[] = [];
  #receiver: ChannelReceiver | undefined;
  #paused = true;
  #delivering = false;
  /** Why the other side closed. */
  #reason = '';
  #said: string | undefined;
  readonly #parts = new PartCollector();
  #ended = false;

  constructor(socket: BrowserSocket, label: string) {
    this.#socket = socket;
    this.label = label;
    socket.binaryType = 'arraybuffer';
    socket.addEventListener('message', ({ data }) => {
      if (typeof data === 'string' || data instanceof ArrayBuffer) this.#inbox.push(data);
      this.#deliver();
    });
    socket.addEventListener('close', ({ reason = '' }) => {
      this.#reason = reason;
      this.#deliver();
    });
    // Tells nothing more than `close`, which always follows.
    socket.addEventListener('error', () => undefined);
  }

  open(receiver: ChannelReceiver): void {
    this.#receiver = receiver;
    this.resume();
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (this.#socket.readyState !== OPEN) return;
    this.#socket.send(message instanceof BinaryMessage ? message.joined() : messageText(message));
    const look = (): void => {
      if (this.#socket.bufferedAmount === 0) flushed();
      else setTimeout(look, FLUSH_POLL_MS);
    };
    queueMicrotask(look);
  }

  sendPart(part: Uint8Array, { isLast }: PartPlace, flushed: () => void): void {
    const message = this.#parts.add(part, isLast);
    if (message === null) queueMicrotask(flushed);
    else this.send(message, flushed);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#deliver());
  }

  close(reason: string): void {
    this.#said ??= reason;
    this.#socket.close(NORMAL);
    this.resume();
  }

  reject(reason: string): void {
    this.close(reason);
  }

  destroy(reason: string): void {
    this.close(reason);
  }

  #hand(message: string | ArrayBuffer): void {
    if (typeof message === 'string') this.#receiver?.message(message);
    else this.#receiver?.binary?.(new Uint8Array(message));
  }

  #deliver(): void {
    if (!this.#receiver || this.#delivering) return;
    this.#delivering = true;
    while (!this.#paused && this.#inbox.length > 0) this.#hand(this.#inbox.shift() ?? '');
    this.#delivering = false;
    if (this.#inbox.length > 0 || this.#socket.readyState !== CLOSED || this.#ended) return;
    this.#ended = true;
    const message = this.#said ?? (this.#reason || 'the socket was closed');
    this.#receiver.closed({ clean: this.#said !== undefined, message });
  }
}
