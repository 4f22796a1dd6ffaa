import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { Liveness, type LivenessOptions } from '../../transport/liveness.js';
import { answerPings } from '../../transport/websocket-pongs.js';
import { decodeFrame, type RelayFrame } from './relay-frame.js';

/** A vanished peer must not prevent a session from resuming for long. */
const LIVENESS: LivenessOptions = { pingIntervalMs: 5_000, silenceLimitMs: 15_000 };
/** Close codes (RFC 6455). */
const PROTOCOL_ERROR = 1002;
/** How long the other side may take to close. */
const CLOSE_GRACE_MS = 2_000;
const FRAME = { binary: true, compress: false };

export interface LineReceiver {
  /** `bytes`: the frame as received. */
  readonly frame: (frame: RelayFrame, bytes: Uint8Array) => void;
  /** Called exactly once. */
  readonly closed: () => void;
}

export interface LineOptions {
  /** What to do about a message that is not a frame. Default: `rejected`, which closes the line. */
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
    // Stops by itself when the socket closes.
    void new Liveness(socket, this.#signsOf(stream), LIVENESS);
    // The package closes the socket itself and sends the reason.
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

  /** Closes after everything sent so far, and soon destroys the socket. Nothing more is received. */
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

  /** While we do not read, the other side looks silent, which is not its fault. */
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
