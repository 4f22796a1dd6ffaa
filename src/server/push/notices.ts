import type { PushSource } from './push-queue.js';

/**
 * Short messages about the state of a process. A client that does not read finds the latest of each kind when it comes
 * back, however often the state has changed.
 */
export class Notices implements PushSource {
  readonly #waiting = new Map<string, string>();
  readonly #send: (message: string) => void;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  /** Replaces one of the same kind that has not left yet. Schedule this source then. */
  add(kind: string, method: string, params: object): void {
    this.#waiting.set(kind, JSON.stringify({ method, params }));
  }

  pushOne(): boolean {
    for (const [kind, message] of this.#waiting) {
      this.#waiting.delete(kind);
      this.#send(message);
      break;
    }
    return this.#waiting.size > 0;
  }
}
