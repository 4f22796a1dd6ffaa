import type { WebSocket } from 'ws';
import type { Duplex } from 'node:stream';
import {
  BinaryMessage,
  type Channel,
  type ChannelReceiver,
  isBinaryFrame,
  type OutgoingMessage,
  type PartPlace,
  type PassedChannel,
} from '../rpc/index.js';
import { asciiText } from './ascii-text.js';
import type { UnsentBytes } from './unsent-bytes.js';
import { writeFrame } from './websocket-frames.js';

/** Close codes we send (RFC 6455). */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
/**
 * Bytes are sent as text too: the kind of frame must not reveal how a message was built. The `ws` package never
 * compresses, because it would do so in threads, and frames written directly to the stream would overtake.
 */
const TEXT_FRAME = { binary: false, compress: false };
const BINARY_FRAME = { binary: true, compress: false };
/** Room for the reason in a Close frame. */
const MAX_REASON_BYTES = 120;
/** How long the other side may take to answer a Close frame before the socket is cut. */
const CLOSE_GRACE_MS = 2_000;

export interface WebSocketChannelOptions {
  /** How to treat binary messages. Default: as a frame if it is one, else as text. */
  readonly binaryMessages?: 'text' | 'ignored';
  /** The stream under the WebSocket. If given, as on a server, frames are written without being copied. */
  readonly stream?: Duplex;
  /** See `Channel.handOver`. Default: impossible. */
  readonly pass?: Channel['handOver'];
  /** What `pass` hands over besides; without it, only a connection can be passed that has sent everything. */
  readonly unsent?: UnsentBytes | undefined;
  /** See `Channel.sendLeftover`. */
  readonly leftover?: Uint8Array | undefined;
}

/** One message per WebSocket message. */
export class WebSocketChannel implements Channel {
  readonly label: string;
  readonly carriesBytes: boolean;
  readonly inflates: boolean;
  readonly #socket: WebSocket;
  readonly #stream: Duplex | undefined;
  readonly #pass: Channel['handOver'];
  readonly #unsent: UnsentBytes | undefined;
  #leftover: Uint8Array | undefined;
  #said: string | undefined;
  /** Somebody else continues with the connection. */
  #isPassed = false;

  constructor(socket: WebSocket, label: string, options: WebSocketChannelOptions = {}) {
    this.#socket = socket;
    this.label = label;
    this.#stream = options.stream;
    this.#pass = options.pass;
    this.#unsent = options.unsent;
    this.#leftover = options.leftover;
    this.inflates = this.#stream !== undefined && socket.extensions.includes('permessage-deflate');
    this.carriesBytes = options.binaryMessages !== 'ignored';
  }

  open(receiver: ChannelReceiver): void {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    this.#socket.on('message', (data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean) => {
      if (isBinary && !this.carriesBytes) return;
      const bytes = toBuffer(data);
      // The WebSocket layer has already validated text.
      if (!isBinary) return receiver.message(asciiText(bytes) ?? bytes.toString('utf8'));
      if (receiver.binary && isBinaryFrame(bytes)) return receiver.binary(bytes);
      // Anything but a frame must be JSON text.
      let text: string;
      try {
        text = decoder.decode(bytes);
      } catch {
        // One unreadable message is no reason to end the connection: receivers that take frames answer it with an
        // error.
        if (receiver.binary) receiver.binary(bytes);
        else this.#shut(PROTOCOL_ERROR, 'a binary message is not UTF-8');
        return;
      }
      receiver.message(text);
    });
    this.#socket.on('error', (error) => {
      this.#said ??= error.message;
    });
    this.#socket.on('close', (code: number, reason: Buffer) => {
      const message = this.#said ?? (reason.toString() || `the socket was closed (${code})`);
      receiver.closed({ clean: code === NORMAL, message });
    });
  }

  sendLeftover(flushed: () => void): number {
    const leftover = this.#leftover;
    if (!this.#stream || !leftover || leftover.length === 0) return 0;
    this.#leftover = undefined;
    this.#stream.write(leftover, this.#whenFlushed(flushed));
    return leftover.length;
  }

  send(message: OutgoingMessage, flushed: () => void): void {
    if (this.#isPassed || this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#stream)
      writeFrame({ stream: this.#stream, sender: 'server' }, message, this.#whenFlushed(flushed));
    else if (message instanceof BinaryMessage)
      this.#socket.send(message.joined(), BINARY_FRAME, () => flushed());
    else this.#socket.send(message, TEXT_FRAME, () => flushed());
  }

  sendPart(part: Uint8Array, { isLast, isFrame }: PartPlace, flushed: () => void): void {
    if (this.#isPassed || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(part, { binary: isFrame, compress: false, fin: isLast }, () => flushed());
  }

  get passesUnsent(): boolean {
    return this.#unsent !== undefined;
  }

  handOver(messages: readonly (string | Uint8Array)[]): PassedChannel | null {
    const passed = this.#pass?.(messages) ?? null;
    this.#isPassed = passed !== null;
    return passed;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(reason: string): void {
    this.#shut(NORMAL, reason);
  }

  reject(reason: string): void {
    this.#shut(PROTOCOL_ERROR, reason);
  }

  destroy(reason: string): void {
    this.#said ??= reason;
    this.#socket.terminate();
  }

  #whenFlushed(flushed: () => void): () => void {
    return () => {
      this.#unsent?.prune();
      flushed();
    };
  }

  #shut(code: number, reason: string): void {
    this.#said ??= reason;
    this.#socket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString('utf8'));
    // A paused socket would never see the answering Close frame.
    this.#socket.resume();
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    timer.unref();
    this.#socket.once('close', () => clearTimeout(timer));
  }
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
