/** The first wait after a lost connection. Codex's client tries again after 100 ms. */
const FIRST_DELAY_MS = 50;
/** Longer waits would eat too much of a session's lease. */
const MAX_DELAY_MS = 2_000;

/** How long to wait before an attempt, counted from 0: doubling, with up to half of it left to chance. */
export function backoffDelay(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 * 2 ** Math.min(attempt, 10));
  return full / 2 + (full / 2) * random();
}

/** Waits, unless the signal ends the wait first. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', done, { once: true });
  });
}
