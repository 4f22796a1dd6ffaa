import type { ProcessUsage } from '../contract/index.js';

/** What a run has come to. */
export class RunRecord {
  #endedAtMs: number | null;
  #usage: ProcessUsage | undefined;

  /** For a process whose exit an earlier server saw. */
  constructor({ endedAtMs, usage }: { endedAtMs?: number | undefined; usage?: ProcessUsage } = {}) {
    this.#endedAtMs = endedAtMs ?? null;
    this.#usage = usage;
  }

  /** When it exited; null while it runs. */
  get endedAtMs(): number | null {
    return this.#endedAtMs;
  }

  /** What it cost, once it has exited and if the system reports it. */
  get usage(): ProcessUsage | undefined {
    return this.#usage;
  }

  exited(usage: ProcessUsage | undefined): void {
    this.#endedAtMs = Date.now();
    this.#usage = usage;
  }
}
