import type { SignalName } from '../contract/index.js';
import { MAX_TIMER_MS } from '../protocol/max-timer.js';

/** After a kill, we wait no longer than this for output held open by something outside the tree. */
const ABANDON_OUTPUT_MS = 1_000;

/** How to end a process, and how to tell that it has ended. */
export interface ProcessControls {
  signal(signal: SignalName): void;
  /** Records its members while the processes that identify them are still alive. */
  recordTree(): void;
  killTree(): Promise<unknown>;
  abandonOutput(): void;
  /** True once the process itself has ended, though its output may still be open. */
  exited(): boolean;
  /** Resolves when its output has closed, too. */
  readonly closed: Promise<void>;
}

/** Ends a process: immediately, after a grace period, or on timeout. */
export class ProcessEnding {
  readonly #controls: ProcessControls;
  #timedOut = false;
  #wasKilled = false;
  #timeout: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #killing: Promise<void> | undefined;

  constructor(controls: ProcessControls) {
    this.#controls = controls;
  }

  /** True if it timed out before it ended. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Kills it when the time is up. */
  limit(timeoutMs: number): void {
    if (timeoutMs > MAX_TIMER_MS) return;
    this.#timeout = setTimeout(() => {
      this.#timedOut = !this.#controls.exited();
      void this.kill();
    }, timeoutMs);
  }

  /** Asks it to end and kills it after the grace period; without one it kills right away. */
  terminate(graceMs: number): void {
    if (graceMs === 0) {
      void this.kill();
    } else if (!this.#grace) {
      this.#controls.signal('SIGTERM');
      this.#controls.recordTree();
      this.#grace = setTimeout(() => void this.kill(), Math.min(graceMs, MAX_TIMER_MS));
    }
  }

  /** Kills the whole tree. Resolves when nothing is left of it. */
  kill(): Promise<void> {
    clearTimeout(this.#grace);
    this.#wasKilled = true;
    this.#killing ??= this.#killTree().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  /** Nothing is left to wait for. */
  over(): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
  }

  async #killTree(): Promise<void> {
    await this.#controls.killTree();
    // Something outside the tree may hold the output open, such as a descriptor passed through a socket.
    const timer = setTimeout(() => this.#controls.abandonOutput(), ABANDON_OUTPUT_MS);
    await this.#controls.closed;
    clearTimeout(timer);
  }
}
