import { followLog, type LogHold, type ProcessEvent, type ProcessLog } from '../contract/index.js';

/** The owner of a process as a reader of its log: nothing is let go before it was read, or nobody means to read it. */
export class ReaderHolds {
  readonly #log: ProcessLog;
  #firstHold: LogHold | undefined;
  #reading = 0;

  constructor(log: ProcessLog) {
    this.#log = log;
  }

  /** Keeps output from the first byte on, until somebody reads or only waits. */
  holdFromStart(): void {
    this.#firstHold = this.#log.hold(0);
  }

  /** Somebody reads from here on. */
  follow(afterSeq: number): AsyncIterableIterator<ProcessEvent> {
    const hold = this.#log.hold(afterSeq);
    this.#reading += 1;
    this.stopHolding();
    const release = (): void => {
      this.#reading -= 1;
      hold.release();
    };
    return followLog({
      log: this.#log,
      hold: { moveTo: (seq) => hold.moveTo(seq), release: once(release) },
      afterSeq,
    });
  }

  /** Somebody waits for the end. Unless others read, the process must not wait for them. */
  onlyWaits(): void {
    if (this.#reading === 0) this.stopHolding();
  }

  /** Nothing waits any longer for somebody to begin reading. */
  stopHolding(): void {
    this.#firstHold?.release();
    this.#firstHold = undefined;
  }
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
