import type { OutputStream, TerminalSize } from '../contract/index.js';
import { checkSum } from './check-sum.js';

/** All entries have this size, so that any of them can be found by its number. */
export const ENTRY_BYTES = 48;

/** What an entry of the index describes. Its place in the file is its code. */
const KINDS = ['stdout', 'stderr', 'pty', 'resize'] as const;

/**
 * Where a chunk of output is and when it came. A resize of the terminal is an entry without output that has the number
 * of the chunk before it.
 */
export interface IndexEntry {
  readonly kind: OutputStream | 'resize';
  readonly seq: number;
  /** Output bytes of the process before this entry. */
  readonly offset: number;
  readonly timeMs: number;
  /** Newlines in the output before this entry. */
  readonly lines: number;
  readonly length: number;
  /** The new size of the terminal, for a resize only. */
  readonly size?: TerminalSize;
}

const at = {
  seq: 0,
  offset: 8,
  timeMs: 16,
  lines: 24,
  length: 32,
  kind: 36,
  rows: 38,
  cols: 40,
  unused: 42,
  sum: 44,
} as const;

/** What is written; its output comes along for the check sum. */
export interface EntryDraft extends Omit<IndexEntry, 'lines'> {
  readonly bytes: Uint8Array;
}

/** Called for every chunk, so it makes no objects. */
export function writeEntry(target: Buffer, position: number, draft: EntryDraft, lines: number): void {
  target.writeDoubleLE(draft.seq, position + at.seq);
  target.writeDoubleLE(draft.offset, position + at.offset);
  target.writeDoubleLE(draft.timeMs, position + at.timeMs);
  target.writeDoubleLE(lines, position + at.lines);
  target.writeUInt32LE(draft.length, position + at.length);
  target.writeUInt16LE(KINDS.indexOf(draft.kind), position + at.kind);
  target.writeUInt16LE(draft.size?.rows ?? 0, position + at.rows);
  target.writeUInt16LE(draft.size?.cols ?? 0, position + at.cols);
  target.writeUInt16LE(0, position + at.unused);
  const start = seed(draft.seq, draft.offset, draft.timeMs, lines);
  target.writeUInt32LE(checkSum(draft.bytes, start), position + at.sum);
}

export function readEntry(source: Buffer, position: number): IndexEntry {
  const slot = source.subarray(position, position + ENTRY_BYTES);
  const kind = KINDS[slot.readUInt16LE(at.kind)] ?? 'stdout';
  const entry = {
    kind,
    seq: slot.readDoubleLE(at.seq),
    offset: slot.readDoubleLE(at.offset),
    timeMs: slot.readDoubleLE(at.timeMs),
    lines: slot.readDoubleLE(at.lines),
    length: slot.readUInt32LE(at.length),
  };
  if (kind !== 'resize') return entry;
  return { ...entry, size: { rows: slot.readUInt16LE(at.rows), cols: slot.readUInt16LE(at.cols) } };
}

/** Whether an entry was written as a whole, and so was its output. */
export function isIntact(slot: Buffer, output: Uint8Array): boolean {
  const { seq, offset, timeMs, lines, length } = readEntry(slot, 0);
  if (length !== output.length) return false;
  return slot.readUInt32LE(at.sum) === checkSum(output, seed(seq, offset, timeMs, lines));
}

/** Makes the check sum of the output depend on the numbers beside it. */
function seed(...numbers: readonly number[]): number {
  let mixed = 0x45584543;
  for (const number of numbers) mixed = Math.imul(mixed ^ number, 0x01000193) ^ (number / 0x1_0000_0000);
  return mixed >>> 0;
}
