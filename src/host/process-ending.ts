import type { SignalName } from '../contract/index.js';
import { MAX_TIMER_MS } from '../protocol/max-timer.js';

/** After a kill, output held open by something outside the tree is waited for no longer than this. */
const ABANDON_OUTPUT_MS = 1_000;

/** What can be done to a process to end it, and how to know that it has. */
export interface ProcessControls {
  signal(signal: SignalName): void;
  /** Finds out who belongs to it, while those live by whom that is known. */
  lookAtTree(): void;
  killTree(): Promise<unknown>;
  abandonOutput(): void;
  /** Its own end was seen, though its output may still be open. */
  exited(): boolean;
  /** Resolves when its output has closed, too. */
  readonly closed: Promise<void>;
}

/** Brings a process to its end: at once, after a grace, or when its time is over. */
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

  /** Its time was over before it ended. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Kills it when the time is over. */
  limit(timeoutMs: number): void {
    if (timeoutMs > MAX_TIMER_MS) return;
    this.#timeout = setTimeout(() => {
      this.#timedOut = !this.#controls.exited();
      void this.kill();
    }, timeoutMs);
  }

  /** Asks, and kills when the grace is over. Without one it kills. */
  terminate(graceMs: number): void {
    if (graceMs === 0) {
      void this.kill();
    } else if (!this.#grace) {
      this.#controls.signal('SIGTERM');
      this.#controls.lookAtTree();
      this.#grace = setTimeout(() => void this.kill(), Math.min(graceMs, MAX_TIMER_MS));
    }
  }

  /** Kills the whole tree. Resolves when nothing of it is left. */
  kill(): Promise<void> {
    clearTimeout(this.#grace);
    this.#wasKilled = true;
    this.#killing ??= this.#killTree().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  /** There is nothing left to wait for. */
  over(): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#grace);
  }

  async #killTree(): Promise<void> {
    await this.#controls.killTree();
    // Something outside the tree may hold the output open: a descriptor handed on through a socket, say.
    const timer = setTimeout(() => this.#controls.abandonOutput(), ABANDON_OUTPUT_MS);
    await this.#controls.closed;
    clearTimeout(timer);
  }
}
