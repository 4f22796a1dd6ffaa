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

  /** Replaces one with the same method that has not left yet. Schedule this source then. */
  add(method: string, params: object): void {
    this.#waiting.set(method, JSON.stringify({ method, params }));
  }

  pushOne(): boolean {
    for (const [method, message] of this.#waiting) {
      this.#waiting.delete(method);
      this.#send(message);
      break;
    }
    return this.#waiting.size > 0;
  }
}
