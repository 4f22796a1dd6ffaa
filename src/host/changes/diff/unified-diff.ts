import { type Edit, editsBetween } from './edits.js';

/** The hunks of a unified diff. Empty if the texts are the same. */
export function unifiedHunks(before: string, after: string, contextLines: number): string {
  const [old, next] = [linesOf(before), linesOf(after)];
  const hunks = hunksOf(editsBetween(old, next), contextLines);
  return hunks.map((hunk) => hunkText(hunk, old, next)).join('');
}

/** With their line endings: a last line without one differs from the same line with one. */
function linesOf(text: string): string[] {
  const lines = text.split(/(?<=\n)/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

/** Groups edits that are closer to each other than twice the context. */
function hunksOf(edits: readonly Edit[], context: number): Edit[][] {
  const hunks: Edit[][] = [];
  let hunk: Edit[] = [];
  edits.forEach((edit, index) => {
    if (edit.kind !== 'same') return void hunk.push(edit);
    const isFirst = index === 0;
    const isLast = index === edits.length - 1;
    if (!isFirst && !isLast && edit.count <= 2 * context) return void hunk.push(edit);
    if (!isFirst) hunk.push({ ...edit, count: Math.min(edit.count, context) });
    if (hunk.some(({ kind }) => kind !== 'same')) hunks.push(hunk);
    const kept = isLast ? 0 : Math.min(edit.count, context);
    const skipped = edit.count - kept;
    hunk = [{ ...edit, oldStart: edit.oldStart + skipped, newStart: edit.newStart + skipped, count: kept }];
  });
  if (hunk.some(({ kind }) => kind !== 'same')) hunks.push(hunk);
  return hunks;
}

function hunkText(edits: readonly Edit[], old: readonly string[], next: readonly string[]): string {
  const count = (...kinds: Edit['kind'][]) =>
    edits.filter(({ kind }) => kinds.includes(kind)).reduce((sum, edit) => sum + edit.count, 0);
  const [first] = edits;
  const removed = range(first?.oldStart ?? 0, count('same', 'removed'));
  const added = range(first?.newStart ?? 0, count('same', 'added'));
  return `@@ -${removed} +${added} @@\n${edits.map((edit) => editText(edit, old, next)).join('')}`;
}

function range(start: number, count: number): string {
  // Of nothing, the line before it is named.
  const line = count === 0 ? start : start + 1;
  return count === 1 ? String(line) : `${line},${count}`;
}

const MARKS: Record<Edit['kind'], string> = { same: ' ', removed: '-', added: '+' };

function editText(edit: Edit, old: readonly string[], next: readonly string[]): string {
  const { kind, oldStart, newStart, count } = edit;
  const lines =
    kind === 'added' ? next.slice(newStart, newStart + count) : old.slice(oldStart, oldStart + count);
  return lines
    .map((line) =>
      line.endsWith('\n') ? MARKS[kind] + line : `${MARKS[kind]}${line}\n\\ No newline at end of file\n`,
    )
    .join('');
}
