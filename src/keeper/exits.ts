import type { Ended, ToServer } from './messages.js';

/** The delay before a message is sent again that the server had no room for. */
const RETRY_MS = 20;

/** Exit statuses of programs whose parent server is gone, until another server has recorded them. */
export class Exits {
  readonly #send: (message: ToServer) => boolean;
  /** By pid. */
  readonly #ends = new Map<number, Ended>();
  /** Those that were not reported to the running server yet. */
  readonly #untold = new Set<number>();
  #isHeeded = false;
  #retry: NodeJS.Timeout | undefined;

  /** `send` returns false if there is no room for the message now. */
  constructor(send: (message: ToServer) => boolean) {
    this.#send = send;
  }

  add(pid: number, end: Ended): void {
    this.#ends.set(pid, end);
    this.#untold.add(pid);
    this.#tell();
  }

  recorded(pid: number): void {
    this.#ends.delete(pid);
    this.#untold.delete(pid);
  }

  /** Call when a new server starts. It gets everything later. */
  hold(): void {
    this.#isHeeded = false;
  }

  /** Call when the server is ready for everything that it has not recorded yet. */
  release(): void {
    this.#isHeeded = true;
    for (const pid of this.#ends.keys()) this.#untold.add(pid);
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#retry);
    if (!this.#isHeeded) return;
    for (const pid of this.#untold) {
      const end = this.#ends.get(pid);
      if (end && !this.#send({ op: 'ended', pid, ...end })) {
        this.#retry = setTimeout(() => this.#tell(), RETRY_MS);
        return;
      }
      this.#untold.delete(pid);
    }
  }
}
