import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { Liveness, type LivenessOptions } from '../../transport/liveness.js';
import { answerPings } from '../../transport/websocket-pongs.js';
import { decodeFrame, type RelayFrame } from './relay-frame.js';

/** Whoever has vanished must not keep a session from resuming for long. */
const LIVENESS: LivenessOptions = { pingIntervalMs: 5_000, silenceLimitMs: 15_000 };
/** Close codes (RFC 6455). */
const PROTOCOL_ERROR = 1002;
/** How long the other side may take to say goodbye. */
const CLOSE_GRACE_MS = 2_000;
const FRAME = { binary: true, compress: false };

export interface LineReceiver {
  /** `bytes`: the frame as it came. */
  readonly frame: (frame: RelayFrame, bytes: Uint8Array) => void;
  /** Called exactly once. */
  readonly closed: () => void;
}

export interface LineOptions {
  /** What a message that is no frame means. Default: the end. */
  readonly unreadable?: 'rejected' | 'ignored';
}

/** A WebSocket that carries frames. */
export class Line {
  readonly #socket: WebSocket;
  readonly #unreadable: 'rejected' | 'ignored';
  #isPaused = false;
  #isClosing = false;

  /** `stream`: what the WebSocket reads from. */
  constructor(socket: WebSocket, stream: Socket, { unreadable = 'rejected' }: LineOptions = {}) {
    this.#unreadable = unreadable;
    this.#socket = socket;
    answerPings(socket);
    // It ends with the socket.
    void new Liveness(socket, this.#signsOf(stream), LIVENESS);
    // The package closes it by itself, with the reason for the other side.
    socket.on('error', () => this.#hangUpSoon());
  }

  open({ frame, closed }: LineReceiver): void {
    this.#socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (this.#isClosing) return;
      const decoded = isBinary ? decodeFrame(data) : null;
      if (decoded) frame(decoded, data);
      else if (this.#unreadable === 'rejected') this.close('a message is not a frame', PROTOCOL_ERROR);
    });
    this.#socket.once('close', closed);
    if (this.#socket.readyState === this.#socket.CLOSED) setImmediate(closed);
  }

  /** `flushed` is called when the frame has left this process, or never will. */
  send(frame: Uint8Array, flushed: () => void = () => undefined): void {
    this.#socket.send(frame, FRAME, () => flushed());
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  /** Resolves when the connection is gone. */
  get gone(): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  /** Says goodbye after everything that was sent, and hangs up soon. Nothing more is received. */
  close(reason: string, code: number): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#socket.close(code, reason);
    // A paused socket would never see the answer.
    this.resume();
    this.#hangUpSoon();
  }

  #hangUpSoon(): void {
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_GRACE_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  /** While we do not read, nothing can be heard from the other side. That is not its fault. */
  #signsOf(stream: Socket): { readonly bytesRead: number } {
    const isPaused = (): boolean => this.#isPaused;
    let unheard = 0;
    return {
      get bytesRead() {
        if (isPaused()) unheard += 1;
        return stream.bytesRead + unheard;
      },
    };
  }
}
