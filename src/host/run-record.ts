import type { ProcessUsage } from '../contract/index.js';

/** What a run has come to so far. */
export class RunRecord {
  #endedAtMs: number | null = null;
  #outputBytes = 0;
  #usage: ProcessUsage | undefined;

  /** When it exited; null while it runs, or if an earlier server saw it. */
  get endedAtMs(): number | null {
    return this.#endedAtMs;
  }

  get outputBytes(): number {
    return this.#outputBytes;
  }

  /** What it cost, once it has exited and if the system reports it. */
  get usage(): ProcessUsage | undefined {
    return this.#usage;
  }

  printed(bytes: number): void {
    this.#outputBytes += bytes;
  }

  /** Returns what it cost. */
  exited(usage: Omit<ProcessUsage, 'outputBytes'> | undefined): ProcessUsage | undefined {
    this.#endedAtMs = Date.now();
    this.#usage = usage && { ...usage, outputBytes: this.#outputBytes };
    return this.#usage;
  }
}
