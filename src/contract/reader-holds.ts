import { followLog } from './log-reader.js';
import type { ProcessEvent } from './process-event.js';
import type { LogHold } from './log-holds.js';
import type { ProcessLog } from './process-log.js';

/**
 * The readers of a log. Until one starts, output is held from the beginning, as in a pipe; from then on for the slowest
 * reader. Waiting for the end while nothing reads lets output pass.
 */
export class ReaderHolds {
  readonly #log: ProcessLog;
  readonly #moved: () => void;
  /** Held for the first reader. */
  #firstHold: LogHold | undefined;

  /** `moved` is called when something was read or is no longer held. */
  constructor(log: ProcessLog, moved: () => void = () => undefined) {
    this.#log = log;
    this.#moved = moved;
  }

  /** Holds output from the first byte on, until a reader starts or `stopHolding` is called. */
  holdFromStart(): void {
    this.#firstHold = this.#log.hold(0);
  }

  /** Starts a reader from this position. */
  follow(afterSeq: number): AsyncIterableIterator<ProcessEvent> {
    const hold = this.#log.hold(afterSeq);
    this.#releaseFirstHold();
    const reader: LogHold = {
      moveTo: (seq) => {
        hold.moveTo(seq);
        this.#moved();
      },
      release: () => {
        hold.release();
        this.#moved();
      },
    };
    return followLog({ log: this.#log, hold: reader, afterSeq });
  }

  /** No longer holds output for a first reader. */
  stopHolding(): void {
    this.#releaseFirstHold();
    this.#moved();
  }

  #releaseFirstHold(): void {
    this.#firstHold?.release();
    this.#firstHold = undefined;
  }
}
