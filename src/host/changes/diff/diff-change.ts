import { isUtf8 } from 'node:buffer';
import { pathBytes } from '../../../protocol/file-uri.js';
import { readLayer, type Side } from '../content.js';
import { typeOf } from '../node.js';
import type { FoundChange, Layers } from '../scan.js';
import { quotedName } from './quoted-name.js';
import { unifiedHunks } from './unified-diff.js';

/** Longer files are not compared line by line. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** A NUL byte this early means that a file is not text; git looks as far. */
const BINARY_CHECK_BYTES = 8_000;

/** One change as a patch. */
export interface ChangeDiff {
  readonly text: string;
  /** Why the text does not show the content. */
  readonly omitted: 'binary' | 'tooLarge' | null;
}

/** What git would print. `shown` is the absolute path; a patch has it without the first slash. */
export function diffChange(
  change: FoundChange,
  { layers, shown, contextLines }: { layers: Layers; shown: string; contextLines: number },
): ChangeDiff {
  const [a, b] = namesOf(shown);
  const header = [`diff --git ${a} ${b}`, ...modeLines(change)];
  const [before, after] = (['base', 'held'] as const).map((side) => sideOf(change, side, layers));
  if (before === 'tooLarge' || after === 'tooLarge') return omit(header, shown, 'tooLarge');
  const [old, next] = [before ?? EMPTY, after ?? EMPTY];
  if (old.equals(next)) return { text: `${header.join('\n')}\n`, omitted: null };
  if (isBinary(old) || isBinary(next)) return omit(header, shown, 'binary');
  const hunks = unifiedHunks(old.toString(), next.toString(), contextLines);
  const files = [`--- ${before ? a : '/dev/null'}`, `+++ ${after ? b : '/dev/null'}`];
  return { text: `${[...header, ...files].join('\n')}\n${hunks}`, omitted: null };
}

const EMPTY = Buffer.alloc(0);

function namesOf(shown: string): [a: string, b: string] {
  const name = Buffer.from(pathBytes(shown)).subarray(1);
  const named = (letter: string): string => quotedName(Buffer.concat([Buffer.from(`${letter}/`), name]));
  return [named('a'), named('b')];
}

function omit(header: readonly string[], shown: string, omitted: 'binary' | 'tooLarge'): ChangeDiff {
  const [a, b] = namesOf(shown);
  const why = omitted === 'binary' ? 'Binary files' : 'Large files';
  return { text: `${header.join('\n')}\n${why} ${a} and ${b} differ\n`, omitted };
}

/** What is on one side; undefined if nothing is that has content. */
function sideOf(change: FoundChange, side: Side, layers: Layers): Buffer | 'tooLarge' | undefined {
  const node = side === 'held' ? change.held : change.base;
  if (node === null || !['file', 'symlink'].includes(typeOf(node))) return undefined;
  if (node.size > BigInt(MAX_FILE_BYTES)) return 'tooLarge';
  return readLayer(layers, { path: change.path, side, offset: 0, maxBytes: MAX_FILE_BYTES })?.bytes;
}

function modeLines({ held, base }: FoundChange): string[] {
  const [before, after] = [base && base.mode.toString(8), held && held.mode.toString(8)];
  if (before === null) return after === null ? [] : [`new file mode ${after}`];
  if (after === null) return [`deleted file mode ${before}`];
  return before === after ? [] : [`old mode ${before}`, `new mode ${after}`];
}

/** What is not UTF-8 cannot be shown as text either: different bytes would look the same. */
function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, BINARY_CHECK_BYTES).includes(0) || !isUtf8(bytes);
}
