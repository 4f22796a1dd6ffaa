import type { WebSocket } from 'ws';

export interface LivenessOptions {
  /** Time between pings. */
  readonly pingIntervalMs: number;
  /** Silence after which the other side counts as gone. */
  readonly silenceLimitMs: number;
}

/** As Codex pings; silence is judged after three of them. */
export const DEFAULT_LIVENESS: LivenessOptions = { pingIntervalMs: 15_000, silenceLimitMs: 45_000 };

/** Answers a probe this late at worst. Long enough for a busy client, short enough for one that waits. */
const PROBE_LIMIT_MS = 2_000;

/**
 * Notices a dead peer: pings it, and cuts the socket when nothing at all came back for too long.
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

  /** Somebody doubts this peer is alive: it has to show a sign soon. */
  probe(): void {
    if (this.#probe) return;
    this.#socket.ping();
    this.#probe = setTimeout(() => this.#socket.terminate(), PROBE_LIMIT_MS);
    this.#probe.unref();
  }
}
