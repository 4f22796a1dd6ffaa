import { MAX_TIMER_MS } from '../../protocol/max-timer.js';

/** Lets time pass, unless it is paused, stepped or stopped. */
export class PlaybackClock {
  /** When the last event was due. Drawing takes time, which must not add up. */
  #dueMs: number | undefined;
  #pausedAtMs: number | undefined;
  #stopped = false;
  #announceStop: (() => void) | undefined;
  /** Resolves when playing was stopped. */
  readonly stopped = new Promise<void>((resolve) => {
    this.#announceStop = resolve;
  });
  #steps = 0;
  /** Looks again what to do. */
  #wake: (() => void) | undefined;

  get isPaused(): boolean {
    return this.#pausedAtMs !== undefined;
  }

  /** Resolves to true once the time has passed, and to false if playing was stopped. */
  async wait(ms: number): Promise<boolean> {
    this.#dueMs ??= performance.now();
    this.#dueMs += ms;
    while (!this.#stopped) {
      const leftMs = this.#dueMs - performance.now();
      if (!this.isPaused && leftMs <= 0) return true;
      if (this.isPaused && this.#steps > 0) {
        this.#steps -= 1;
        // Skipped time need not be waited for.
        if (leftMs > 0) this.#dueMs -= leftMs;
        return true;
      }
      await this.#change(this.isPaused ? undefined : leftMs);
    }
    return false;
  }

  togglePause(): void {
    const now = performance.now();
    if (this.#pausedAtMs === undefined) this.#pausedAtMs = now;
    else {
      if (this.#dueMs !== undefined) this.#dueMs += now - this.#pausedAtMs;
      this.#pausedAtMs = undefined;
      this.#steps = 0;
    }
    this.#wake?.();
  }

  /** Goes on to the next event, if paused. */
  step(): void {
    if (!this.isPaused) return;
    this.#steps += 1;
    this.#wake?.();
  }

  stop(): void {
    this.#stopped = true;
    this.#announceStop?.();
    this.#wake?.();
  }

  #change(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer =
        ms === undefined ? undefined : setTimeout(() => this.#wake?.(), Math.min(ms, MAX_TIMER_MS));
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
