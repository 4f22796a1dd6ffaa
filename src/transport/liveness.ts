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
 * Detects a dead client: pings it and cuts the socket if nothing at all arrived for too long.
 *
 * @internal
 */
export class Liveness {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #lastSign = performance.now();
  #probe: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, options: LivenessOptions) {
    this.#socket = socket;
    const sign = (): void => {
      this.#lastSign = performance.now();
      clearTimeout(this.#probe);
      this.#probe = undefined;
    };
    socket.on('pong', sign);
    socket.on('ping', sign);
    socket.on('message', sign);
    this.#timer = setInterval(() => {
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
    this.#socket.ping();
    this.#probe = setTimeout(() => this.#socket.terminate(), PROBE_LIMIT_MS);
    this.#probe.unref();
  }
}
