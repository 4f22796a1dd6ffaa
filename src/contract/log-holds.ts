/** Guarantees a reader that everything after its position is kept until the position moves on. */
export interface LogHold {
  moveTo(seq: number): void;
  release(): void;
}

export interface LogHoldsOptions {
  /** Unread output that may accumulate for a holding reader before the source is paused. */
  readonly windowBytes: number;
  /** Holds are without effect: slow readers are served from elsewhere. */
  readonly ignored: boolean;
  /** Output bytes up to and including an entry. */
  readonly offsetAfter: (seq: number) => number;
  /** All output so far. */
  readonly totalBytes: () => number;
  /** Called when the unread output of a holding reader exceeds the window, and again once it has drained. */
  readonly onPressure: (paused: boolean) => void;
  /** Called when a reader has moved on or gone: what nobody holds may be discarded. */
  readonly onMoved: () => void;
}

/** The readers that a log keeps output for. While the slowest is too far behind, the source of the output pauses. */
export class LogHolds {
  readonly #options: LogHoldsOptions;
  readonly #holds = new Set<{ seq: number; offset: number }>();
  #windowBytes: number;
  #paused = false;

  constructor(options: LogHoldsOptions) {
    this.#options = options;
    this.#windowBytes = options.windowBytes;
  }

  get any(): boolean {
    return this.#holds.size > 0;
  }

  /** Up to here every reader has read; `endSeq` if there is none. */
  readSeq(endSeq: number): number {
    let seq = endSeq;
    for (const hold of this.#holds) seq = Math.min(seq, hold.seq);
    return seq;
  }

  /** What memory holds because the slowest reader has not read it. */
  get unreadBytes(): number {
    if (this.#options.ignored) return 0;
    const totalBytes = this.#options.totalBytes();
    let unread = 0;
    for (const hold of this.#holds) unread = Math.max(unread, totalBytes - hold.offset);
    return unread;
  }

  add(afterSeq: number): LogHold {
    const { offsetAfter } = this.#options;
    const hold = { seq: afterSeq, offset: offsetAfter(afterSeq) };
    this.#holds.add(hold);
    this.updatePressure();
    return {
      moveTo: (seq) => {
        if (seq <= hold.seq) return;
        hold.seq = seq;
        hold.offset = offsetAfter(seq);
        this.#moved();
      },
      release: () => {
        if (this.#holds.delete(hold)) this.#moved();
      },
    };
  }

  /** Changes how much unread output pauses the source. */
  resizeWindow(bytes: number): void {
    this.#windowBytes = bytes;
    this.updatePressure();
  }

  /** Call when there is more output. */
  updatePressure(): void {
    const paused = this.unreadBytes >= this.#windowBytes;
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.#options.onPressure(paused);
  }

  #moved(): void {
    this.#options.onMoved();
    this.updatePressure();
  }
}
