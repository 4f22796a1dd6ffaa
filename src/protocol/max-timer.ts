/** Timers use 32 bits, about 24 days of milliseconds; a longer one would fire immediately. */
export const MAX_TIMER_MS = 0x7fff_ffff;

/**
 * Calls back after any time, also after more than one timer can measure. Returns a function that prevents it. The
 * process stays alive for it, unless `keepsAlive` is false.
 */
export function after(ms: number, callback: () => void, { keepsAlive = true } = {}): () => void {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const step = Math.min(leftMs, MAX_TIMER_MS);
    timer = setTimeout(() => (leftMs > step ? arm(leftMs - step) : callback()), step);
    if (!keepsAlive) timer.unref();
  };
  arm(ms);
  return () => clearTimeout(timer);
}
