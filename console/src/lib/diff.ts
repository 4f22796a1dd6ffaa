/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Beyond this many steps, files count as wholly different: finding out more would take too long. */
const MAX_EDITS = 2_000;

/** What changed from one list of lines to another: the shortest way, found greedily from both ends of each diagonal. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const trail = editTrail(before, after);
  if (!trail)
    return [
      ...before.map((text) => ({ kind: 'removed' as const, text })),
      ...after.map((text) => ({ kind: 'added' as const, text })),
    ];
  const lines: DiffLine[] = [];
  let [x, y] = [before.length, after.length];
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const reached = trail[edits] ?? new Map<number, number>();
    const k = x - y;
    const isDown = k === -edits || (k !== edits && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = reached.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      lines.push({ kind: 'same', text: before[x - 1] ?? '' });
      [x, y] = [x - 1, y - 1];
    }
    if (edits === 0) break;
    if (isDown) lines.push({ kind: 'added', text: after[fromY] ?? '' });
    else lines.push({ kind: 'removed', text: before[fromX] ?? '' });
    [x, y] = [fromX, fromY];
  }
  return lines.toReversed();
}

/** For each number of edits, how far each diagonal got before; null if there are too many. */
function editTrail(before: readonly string[], after: readonly string[]): Map<number, number>[] | null {
  const trail: Map<number, number>[] = [];
  const reached = new Map<number, number>([[1, 0]]);
  const limit = Math.min(before.length + after.length, MAX_EDITS);
  for (let edits = 0; edits <= limit; edits += 1) {
    trail.push(new Map(reached));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && (reached.get(k - 1) ?? -1) < (reached.get(k + 1) ?? -1));
      let x = isDown ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < before.length && y < after.length && before[x] === after[y]) [x, y] = [x + 1, y + 1];
      reached.set(k, x);
      if (x >= before.length && y >= after.length) return trail;
    }
  }
  return null;
}
