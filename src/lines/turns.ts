/** How long one search may have the event loop at a time. */
const SLICE_MS = 1;

const waiting: (() => void)[] = [];

/** Lets others have the event loop. However many searches there are, one of them goes on in each turn of it. */
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
