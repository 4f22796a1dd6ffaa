import type { ToServer } from './messages.js';

/** When to try again to tell the server something it had no room for. */
const RETRY_MS = 20;

/** The exit statuses of programs whose parent was a server that is gone, until a server has recorded them. */
export class Exits {
  readonly #send: (message: ToServer) => boolean;
  /** By pid. */
  readonly #statuses = new Map<number, number>();
  /** Of these, the running server has not been told. */
  readonly #untold = new Set<number>();
  #isHeeded = false;
  #retry: NodeJS.Timeout | undefined;

  /** `send` returns false if there is no room for the message now. */
  constructor(send: (message: ToServer) => boolean) {
    this.#send = send;
  }

  add(pid: number, status: number): void {
    this.#statuses.set(pid, status);
    this.#untold.add(pid);
    this.#tell();
  }

  recorded(pid: number): void {
    this.#statuses.delete(pid);
    this.#untold.delete(pid);
  }

  /** There is a new server, which is told everything later. */
  hold(): void {
    this.#isHeeded = false;
  }

  /** The server can be told everything that nobody has recorded. */
  release(): void {
    this.#isHeeded = true;
    for (const pid of this.#statuses.keys()) this.#untold.add(pid);
    this.#tell();
  }

  #tell(): void {
    clearTimeout(this.#retry);
    if (!this.#isHeeded) return;
    for (const pid of this.#untold) {
      if (!this.#send({ op: 'ended', pid, status: this.#statuses.get(pid) ?? 0 })) {
        this.#retry = setTimeout(() => this.#tell(), RETRY_MS);
        return;
      }
      this.#untold.delete(pid);
    }
  }
}
