/** The times in a log. The clock of the machine may be set back; these times never run backwards. */
export class LogClock {
  #startMs = 0;
  #ageMs = 0;

  /** When the first entry came; 0 before that. */
  get startMs(): number {
    return this.#startMs;
  }

  /** From the first entry to the latest. */
  get ageMs(): number {
    return this.#ageMs;
  }

  /** Continues the times of a log that another server began. */
  resume(startMs: number, ageMs: number): void {
    this.#startMs = startMs;
    this.#ageMs = ageMs;
  }

  now(): number {
    const now = Date.now();
    if (this.#startMs === 0) this.#startMs = now;
    const ageMs = now - this.#startMs;
    if (ageMs > this.#ageMs) this.#ageMs = ageMs;
    return this.#startMs + this.#ageMs;
  }
}
