/** A timer that can be paused: only time while it runs counts. */
export class PausableTimer {
  readonly #fire: () => void;
  #remainingMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(timeMs: number, fire: () => void) {
    this.#remainingMs = timeMs;
    this.#fire = fire;
  }

  run(): void {
    if (this.#over || this.#timer !== undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => {
      this.#over = true;
      this.#fire();
    }, this.#remainingMs);
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#remainingMs = Math.max(0, this.#remainingMs - (performance.now() - this.#startedAt));
  }

  /** Stops it for good. */
  cancel(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }
}
