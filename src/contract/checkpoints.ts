/** Positions remembered; past this every second one goes, so that old counts get coarser and memory stays. */
const MAX_CHECKPOINTS = 4096;

/** Remembers how many bytes had gone by at entries that are themselves forgotten. */
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

/** Index of the first item that satisfies a condition all later ones satisfy too. */
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
