import type { SignalName } from '../contract/index.js';
import { after } from '../protocol/max-timer.js';

/** After a kill, we wait no longer than this for output held open by something outside the tree. */
const ABANDON_OUTPUT_MS = 1_000;

/** How to end a process, and how to tell that it has ended. */
export interface ProcessControls {
  signal(signal: SignalName): void;
  /** Records its members while the processes that identify them are still alive. */
  recordTree(): void;
  killTree(): Promise<unknown>;
  abandonOutput(): void;
  /** Called when its time is up, before it is killed. */
  timedOut(): void;
  /** True once the process itself has ended, though its output may still be open. */
  exited(): boolean;
  /** Resolves when its output has closed, too. */
  readonly closed: Promise<void>;
}

/** Ends a process: immediately, after a grace period, or on timeout. */
export class ProcessEnding {
  readonly #controls: ProcessControls;
  #timedOut = false;
  #changesFull = false;
  #wasKilled = false;
  #stopTimeout: (() => void) | undefined;
  #stopGrace: (() => void) | undefined;
  #killing: Promise<void> | undefined;

  constructor(controls: ProcessControls) {
    this.#controls = controls;
  }

  /** True if it timed out before it ended. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** True if it was stopped because its held changes take up too much room. */
  get changesFull(): boolean {
    return this.#changesFull;
  }

  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Kills it when the time is up. */
  limit(timeoutMs: number): void {
    this.#stopTimeout = after(timeoutMs, () => {
      this.#timedOut = !this.#controls.exited();
      if (this.#timedOut) this.#controls.timedOut();
      void this.kill();
    });
  }

  /** Kills it, because its held changes take up too much room. */
  stopForRoom(): void {
    this.#changesFull ||= !this.#controls.exited();
    void this.kill();
  }

  /** An earlier server was about to kill it because its time was up. */
  hasTimedOut(): void {
    this.#timedOut = true;
  }

  /** Asks it to end and kills it after the grace period; without one it kills right away. */
  terminate(graceMs: number): void {
    if (graceMs === 0) {
      void this.kill();
    } else if (!this.#stopGrace) {
      this.#controls.signal('SIGTERM');
      this.#controls.recordTree();
      this.#stopGrace = after(graceMs, () => void this.kill());
    }
  }

  /** Kills the whole tree. Resolves when nothing is left of it. */
  kill(): Promise<void> {
    this.#stopGrace?.();
    this.#wasKilled = true;
    this.#killing ??= this.#killTree().finally(() => {
      this.#killing = undefined;
    });
    return this.#killing;
  }

  /** Nothing is left to wait for. */
  over(): void {
    this.#stopTimeout?.();
    this.#stopGrace?.();
  }

  async #killTree(): Promise<void> {
    await this.#controls.killTree();
    // Something outside the tree may hold the output open, such as a descriptor passed through a socket.
    const timer = setTimeout(() => this.#controls.abandonOutput(), ABANDON_OUTPUT_MS);
    await this.#controls.closed;
    clearTimeout(timer);
  }
}
