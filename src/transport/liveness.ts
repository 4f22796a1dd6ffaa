import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

export interface LivenessOptions {
  /** Time between pings. */
  readonly pingIntervalMs: number;
  /** After this much silence the other side counts as gone. */
  readonly silenceLimitMs: number;
}

/** Codex's ping interval; silence is judged after three of them. */
export const DEFAULT_LIVENESS: LivenessOptions = { pingIntervalMs: 15_000, silenceLimitMs: 45_000 };

/**
 * How long the answer to a probe may take: long enough for a busy client, short enough for the one waiting for the
 * session.
 */
const PROBE_LIMIT_MS = 2_000;

/**
 * Detects a dead client: pings it and cuts the socket if nothing at all arrived for too long. In the middle of a long message a
 * client cannot answer pings, possibly for minutes on a slow line, so any bytes that arrive count.
 *
 * @internal
 */
export class Liveness {
  readonly #socket: WebSocket;
  readonly #stream: Pick<Socket, 'bytesRead'>;
  readonly #timer: NodeJS.Timeout;
  #lastSign = performance.now();
  /** How many bytes had arrived then. */
  #bytesSeen: number;
  #probe: NodeJS.Timeout | undefined;

  /** `stream`: what the WebSocket reads from. */
  constructor(socket: WebSocket, stream: Pick<Socket, 'bytesRead'>, options: LivenessOptions) {
    this.#socket = socket;
    this.#stream = stream;
    this.#bytesSeen = stream.bytesRead;
    for (const event of ['pong', 'ping', 'message']) socket.on(event, () => this.#sign());
    this.#timer = setInterval(() => {
      this.#look();
      if (performance.now() - this.#lastSign > options.silenceLimitMs) socket.terminate();
      else socket.ping();
    }, options.pingIntervalMs);
    this.#timer.unref();
    socket.on('close', () => {
      clearInterval(this.#timer);
      clearTimeout(this.#probe);
    });
  }

  /** Someone doubts that the client is alive: it must respond soon. */
  probe(): void {
    if (this.#probe) return;
    // Bytes from before the probe prove nothing.
    this.#look();
    this.#socket.ping();
    this.#probe = setTimeout(() => {
      if (!this.#look()) this.#socket.terminate();
    }, PROBE_LIMIT_MS);
    this.#probe.unref();
  }

  #sign(): void {
    this.#lastSign = performance.now();
    this.#bytesSeen = this.#stream.bytesRead;
    clearTimeout(this.#probe);
    this.#probe = undefined;
  }

  /** Counts anything that arrived since the last sign of life as another one. Returns whether there was any. */
  #look(): boolean {
    if (this.#stream.bytesRead === this.#bytesSeen) return false;
    this.#sign();
    return true;
  }
}
