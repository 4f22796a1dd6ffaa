import { originOf } from '../transport/door.js';

const MAX_FAILURES = 20;
const WINDOW_MS = 60_000;
/** Origins remembered. The oldest is forgotten for another. */
const MAX_ORIGINS = 1024;

/** Slows down guessing. Setting the clock changes nothing. */
export class SignInAttempts {
  readonly #failures = new Map<string, { count: number; readonly sinceMs: number }>();

  /** Whether this address has failed too often within the last minute. */
  isBlocked(address: string | undefined): boolean {
    const failed = this.#failures.get(originOf(address));
    return (
      failed !== undefined && failed.count >= MAX_FAILURES && performance.now() - failed.sinceMs < WINDOW_MS
    );
  }

  failed(address: string | undefined): void {
    const origin = originOf(address);
    const known = this.#failures.get(origin);
    if (known && performance.now() - known.sinceMs < WINDOW_MS) known.count += 1;
    else this.#failures.set(origin, { count: 1, sinceMs: performance.now() });
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_ORIGINS) break;
      this.#failures.delete(oldest);
    }
  }
}
