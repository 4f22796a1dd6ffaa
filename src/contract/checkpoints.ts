/**
 * Positions remembered; above this every second one is dropped, so that old counts get coarser but memory stays
 * bounded.
 */
const MAX_CHECKPOINTS = 4096;

/** Remembers the byte counts at entries that have been discarded. */
export class Checkpoints {
  #points: { readonly seq: number; readonly offset: number }[] = [];

  add(seq: number, offset: number): void {
    this.#points.push({ seq, offset });
    if (this.#points.length > MAX_CHECKPOINTS)
      this.#points = this.#points.filter((_, index) => index % 2 === 1);
  }

  /** Bytes up to an entry, or up to the nearest remembered one before it. */
  offsetAt(seq: number): number {
    return this.#points[firstIndex(this.#points, 0, (point) => point.seq > seq) - 1]?.offset ?? 0;
  }
}

/** Index of the first item satisfying a condition that all later items satisfy too. */
export function firstIndex<Item>(
  items: readonly Item[],
  from: number,
  holds: (item: Item) => boolean,
): number {
  let low = from;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && holds(item)) high = middle;
    else low = middle + 1;
  }
  return low;
}
