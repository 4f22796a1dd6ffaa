import { after } from '../protocol/max-timer.js';
import { digestOf, newSecret } from './secret.js';

/** A link that nobody opened stops working after this time: it may have ended up in a log. */
const VALID_MS = 10 * 60_000;

/** The key of the link that is printed. There is one at a time, and it opens once. */
export class OneTimeKey {
  #digest: string | undefined;
  #stopTimer: (() => void) | undefined;

  /** Makes a new key. The one before no longer opens anything. */
  renew(): string {
    this.forget();
    const key = newSecret();
    this.#digest = digestOf(key);
    this.#stopTimer = after(VALID_MS, () => this.forget());
    return key;
  }

  /** Uses the key up. Returns whether it was the right one. */
  use(key: string): boolean {
    if (this.#digest === undefined || digestOf(key) !== this.#digest) return false;
    this.forget();
    return true;
  }

  forget(): void {
    this.#stopTimer?.();
    this.#digest = undefined;
  }
}
