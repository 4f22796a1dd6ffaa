/** How long one search may occupy the event loop at a time. */
const SLICE_MS = 1;

const waiting: (() => void)[] = [];

/** Shares the event loop. However many searches run, only one of them continues in each turn. */
export class Turns {
  #since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since >= SLICE_MS;
  }

  async next(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(wakeOne);
    });
    this.#since = performance.now();
  }
}

function wakeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeOne);
}
