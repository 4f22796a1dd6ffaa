import type { ExecProcess, ReadResult } from '../../contract/index.js';
import { HarmlessText } from './harmless-text.js';
import { LastLines } from './last-lines.js';
import { currentSize } from './raw-terminal.js';

type PastOutput = ReadResult['chunks'][number];

/** Modes a program sets once and relies on: cursor keys, the alternate screen, the mouse, focus, pasted text. */
const MODES: readonly number[] = [1, 25, 47, 1047, 1049, 1000, 1002, 1003, 1004, 1006, 2004];
/** What a terminal starts with. */
const ON_BY_DEFAULT: readonly number[] = [25];
const ALTERNATE: readonly number[] = [47, 1047, 1049];
// eslint-disable-next-line no-control-regex
const SET_MODES = /\u001b\[\?([0-9;]+)([hl])/g;
/** A sequence may be cut by the end of a piece. */
const TAIL_CHARS = 32;
const CLEAR = '\u001b[2J\u001b[H';

/**
 * Brings our terminal into the state that a program has left its own in: the modes it set, and its last lines. A full-screen
 * program redraws its screen itself once the size changes.
 */
export async function rejoin(child: ExecProcess, past: AsyncIterable<PastOutput>): Promise<void> {
  const modes = new Map<number, boolean>();
  const harmless = new HarmlessText();
  const lines = new LastLines(Math.max(1, currentSize().rows - 1));
  let tail = '';
  for await (const { bytes } of past) {
    const text = tail + Buffer.from(bytes).toString('latin1');
    for (const [, numbers = '', letter] of text.matchAll(SET_MODES))
      for (const mode of numbers.split(';').map(Number))
        if (MODES.includes(mode)) modes.set(mode, letter === 'h');
    tail = text.slice(-TAIL_CHARS);
    lines.add(harmless.take(bytes));
  }
  const isAlternate = ALTERNATE.some((mode) => modes.get(mode));
  let restored = '';
  for (const [mode, on] of modes)
    if (on !== ON_BY_DEFAULT.includes(mode)) restored += `\u001b[?${mode}${on ? 'h' : 'l'}`;
  process.stdout.write(isAlternate ? restored + CLEAR : restored + lines.text());
  const { rows, cols } = currentSize();
  try {
    await child.resize({ rows: Math.max(1, rows - 1), cols });
    await child.resize({ rows, cols });
  } catch {
    // The process has ended meanwhile: its last output says so.
  }
}
