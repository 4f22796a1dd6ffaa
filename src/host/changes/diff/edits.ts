/** A run of lines: kept, only in the old text, or only in the new one. */
export interface Edit {
  readonly kind: 'same' | 'removed' | 'added';
  /** Index of the first line in the old text, and how many there are of it. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly count: number;
}

/** Texts that differ in more lines than this are shown as replaced: a shorter diff would take too long to find. */
const MAX_DIFFERENCES = 1_500;

/** The shortest series of edits (Myers), unless the texts have little in common. */
export function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const middle = differences(
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  );
  const moved = middle.map((edit) => ({
    ...edit,
    oldStart: edit.oldStart + start,
    newStart: edit.newStart + start,
  }));
  return [
    ...run('same', 0, 0, start),
    ...moved,
    ...run('same', before.length - end, after.length - end, end),
  ];
}

function run(kind: Edit['kind'], oldStart: number, newStart: number, count: number): Edit[] {
  return count === 0 ? [] : [{ kind, oldStart, newStart, count }];
}

function differences(before: readonly string[], after: readonly string[]): Edit[] {
  if (before.length === 0 || after.length === 0) return replaced(before, after);
  const trace = furthestPaths(before, after);
  return trace === null ? replaced(before, after) : walkBack(trace, before.length, after.length);
}

function replaced(before: readonly string[], after: readonly string[]): Edit[] {
  return [...run('removed', 0, 0, before.length), ...run('added', before.length, 0, after.length)];
}

/** For each number of differences, how far one gets on each diagonal. Null if there are too many. */
function furthestPaths(before: readonly string[], after: readonly string[]): Int32Array[] | null {
  const most = Math.min(before.length + after.length, MAX_DIFFERENCES);
  const furthest = new Int32Array(2 * most + 2);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d += 1) {
    trace.push(furthest.slice(most - d, most + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const goesDown = k === -d || (k !== d && at(furthest, most + k - 1) < at(furthest, most + k + 1));
      let x = goesDown ? at(furthest, most + k + 1) : at(furthest, most + k - 1) + 1;
      let y = x - k;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x += 1;
        y += 1;
      }
      furthest[most + k] = x;
      if (x >= before.length && y >= after.length) return trace;
    }
  }
  return null;
}

function at(numbers: Int32Array, index: number): number {
  return numbers[index] ?? 0;
}

function walkBack(trace: readonly Int32Array[], oldLength: number, newLength: number): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [oldLength, newLength];
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const furthest = trace[d] ?? new Int32Array();
    const k = x - y;
    // The stored part begins at diagonal -d.
    const goesDown = k === -d || (k !== d && at(furthest, k - 1 + d) < at(furthest, k + 1 + d));
    const fromX = d === 0 ? 0 : goesDown ? at(furthest, k + 1 + d) : at(furthest, k - 1 + d);
    const fromY = d === 0 ? 0 : fromX - (goesDown ? k + 1 : k - 1);
    const [startX, startY] = d === 0 ? [0, 0] : goesDown ? [fromX, fromY + 1] : [fromX + 1, fromY];
    push(edits, 'same', startX, startY, x - startX);
    if (d > 0 && goesDown) push(edits, 'added', fromX, fromY, 1);
    else if (d > 0) push(edits, 'removed', fromX, fromY, 1);
    [x, y] = [fromX, fromY];
  }
  return edits.toReversed();
}

/** Joins it with the edit after it, if both are of one kind and adjacent. */
function push(edits: Edit[], kind: Edit['kind'], oldStart: number, newStart: number, count: number): void {
  if (count === 0) return;
  const next = edits.at(-1);
  if (next?.kind === kind) edits[edits.length - 1] = { kind, oldStart, newStart, count: count + next.count };
  else edits.push({ kind, oldStart, newStart, count });
}
