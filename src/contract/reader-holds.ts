import { followLog } from './log-reader.js';
import type { ProcessEvent } from './process.js';
import type { LogHold, ProcessLog } from './process-log.js';

/**
 * The readers of a log. Until somebody reads, output waits from the beginning, as in a pipe; from then on it waits for the
 * slowest reader. Waiting for the end while nobody reads lets output pass.
 */
export class ReaderHolds {
  readonly #log: ProcessLog;
  readonly #moved: () => void;
  /** Held for whoever reads first. */
  #firstHold: LogHold | undefined;

  /** `moved` is called when something was read, or is no longer waited for. */
  constructor(log: ProcessLog, moved: () => void = () => undefined) {
    this.#log = log;
    this.#moved = moved;
  }

  /** Keeps output from the first byte on, until somebody reads or `stopHolding` is called. */
  holdFromStart(): void {
    this.#firstHold = this.#log.hold(0);
  }

  /** Somebody reads from here on. */
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

  /** Output no longer waits for somebody to begin reading. */
  stopHolding(): void {
    this.#releaseFirstHold();
    this.#moved();
  }

  #releaseFirstHold(): void {
    this.#firstHold?.release();
    this.#firstHold = undefined;
  }
}
