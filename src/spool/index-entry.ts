import type { OutputStream, TerminalSize } from '../contract/index.js';
import { checkSum } from './check-sum.js';

/** The size of every entry, so that any entry can be found by its number. */
export const ENTRY_BYTES = 40;

/** The kinds of index entries. The position in this list is the code in the file. */
const KINDS = ['stdout', 'stderr', 'pty', 'resize'] as const;

/**
 * The position and time of a chunk of output. A resize of the terminal is an entry without output, with the number of the
 * chunk before it.
 */
export interface IndexEntry {
  readonly kind: OutputStream | 'resize';
  readonly seq: number;
  /** Output bytes of the process before this entry. */
  readonly offset: number;
  readonly timeMs: number;
  readonly length: number;
  /** Newlines before this entry. Null if written by a version without line numbers. */
  readonly newlines: number | null;
  /** The new size of the terminal, for a resize only. */
  readonly size?: TerminalSize;
}

/**
 * The count of newlines is stored in the field of the terminal size, or in that of the length for a resize, which has none: 32
 * bits there and 16 more after the size.
 */
const at = {
  seq: 0,
  offset: 8,
  timeMs: 16,
  length: 24,
  kind: 28,
  rows: 30,
  cols: 32,
  highNewlines: 34,
  sum: 36,
} as const;

/** A flag in the kind: newlines were counted. */
const COUNTED = 0x100;
/** A flag in the kind: the output was in place before its entry was written, and needs no checksum. */
const PLACED = 0x200;
const HIGH = 0x1_0000_0000;
const NOTHING = new Uint8Array(0);

/** An entry to write, with its output for the checksum. */
export interface EntryDraft extends Omit<IndexEntry, 'newlines'> {
  readonly bytes: Uint8Array;
  /** The output is already in place. */
  readonly isPlaced?: boolean;
}

/** Called for every chunk, so it allocates nothing. A view writes numbers many times faster than a `Buffer`. */
export function writeEntry(target: DataView, position: number, draft: EntryDraft, newlines: number): void {
  const { seq, offset, timeMs, length, kind, size, bytes, isPlaced } = draft;
  target.setFloat64(position + at.seq, seq, true);
  target.setFloat64(position + at.offset, offset, true);
  target.setFloat64(position + at.timeMs, timeMs, true);
  target.setUint32(position + at.length, length, true);
  target.setUint16(position + at.kind, KINDS.indexOf(kind) | COUNTED | (isPlaced ? PLACED : 0), true);
  if (size) {
    target.setUint16(position + at.rows, size.rows, true);
    target.setUint16(position + at.cols, size.cols, true);
  }
  target.setUint32(position + (size ? at.length : at.rows), newlines % HIGH, true);
  target.setUint16(position + at.highNewlines, Math.floor(newlines / HIGH), true);
  target.setUint32(position + at.sum, checkSum(isPlaced ? NOTHING : bytes, seed(seq, offset, timeMs)), true);
}

export function readEntry(source: Buffer, position: number): IndexEntry {
  const slot = source.subarray(position, position + ENTRY_BYTES);
  const code = slot.readUInt16LE(at.kind);
  const kind = KINDS[code & ~(COUNTED | PLACED)] ?? 'stdout';
  const isResize = kind === 'resize';
  const low = slot.readUInt32LE(isResize ? at.length : at.rows);
  const entry = {
    kind,
    seq: slot.readDoubleLE(at.seq),
    offset: slot.readDoubleLE(at.offset),
    timeMs: slot.readDoubleLE(at.timeMs),
    length: isResize ? 0 : slot.readUInt32LE(at.length),
    newlines: code & COUNTED ? slot.readUInt16LE(at.highNewlines) * HIGH + low : null,
  };
  if (!isResize) return entry;
  return { ...entry, size: { rows: slot.readUInt16LE(at.rows), cols: slot.readUInt16LE(at.cols) } };
}

/** Whether an entry and its output were written completely. */
export function isIntact(slot: Buffer, output: Uint8Array): boolean {
  const { seq, offset, timeMs, length } = readEntry(slot, 0);
  if (length !== output.length) return false;
  const isPlaced = (slot.readUInt16LE(at.kind) & PLACED) !== 0;
  return slot.readUInt32LE(at.sum) === checkSum(isPlaced ? NOTHING : output, seed(seq, offset, timeMs));
}

/** Makes the checksum of the output depend on the numbers of its entry. */
function seed(seq: number, offset: number, timeMs: number): number {
  return mixed(mixed(mixed(0x45584543, seq), offset), timeMs) >>> 0;
}

function mixed(sum: number, number: number): number {
  return Math.imul(sum ^ number, 0x01000193) ^ (number / 0x1_0000_0000);
}
