/** Delay before the first reconnect. Codex's client waits 100 ms. */
const FIRST_DELAY_MS = 50;
/** Longer delays would use up too much of a session's lease. */
const MAX_DELAY_MS = 2_000;

/** The delay before an attempt, counted from 0: doubles each time, and up to half of it is random. */
export function backoffDelay(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 * 2 ** Math.min(attempt, 10));
  return full / 2 + (full / 2) * random();
}

/** Waits until the delay has passed or the signal fires. */
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
