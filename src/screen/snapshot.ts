import type { IBufferCell } from '@xterm/headless';
import type { Emulator } from './emulator.js';
import type { Charset, ScreenBuffer, TerminalInternals } from './internals.js';
import { drawLine, drawLines } from './line-text.js';
import { penOf, PLAIN } from './pen.js';

/** The default distance between tab stops. */
const TAB = 8;
const DESIGNATORS = ['(', ')', '*', '+'];
const SHIFTS = ['', '\u000e', '\u001bn', '\u001bo'];
const CURSORS = { block: 1, underline: 3, bar: 5 };
const MOUSE = {
  none: '',
  x10: '\u001b[?9h',
  vt200: '\u001b[?1000h',
  drag: '\u001b[?1002h',
  any: '\u001b[?1003h',
};

/**
 * Text that reproduces the state on a fresh terminal of the same size: both screens, cursor, modes. `scrollback`: lines
 * above the screen that are drawn first and scroll away.
 */
export function snapshot(emulator: Emulator, { scrollback }: { scrollback: number }): string {
  const { terminal, internals } = emulator;
  const { normal, active } = internals.buffers;
  const lines = terminal.buffer.normal;
  const from = Math.max(0, normal.ybase - scrollback);
  let text = drawLines(lines, { from, to: normal.ybase + terminal.rows, cols: terminal.cols });
  if (active !== normal) {
    const alternate = drawLines(terminal.buffer.alternate, {
      from: 0,
      to: terminal.rows,
      cols: terminal.cols,
    });
    // The switch saves the cursor of the normal screen.
    text += `${PLAIN}${region(normal, terminal.rows)}${savedCursor(normal)}\u001b[?1049h${PLAIN}${charset(0, undefined)}\u001b[2J\u001b[H${alternate}`;
  }
  return `${text}${PLAIN}${stateOf(emulator)}`;
}

function stateOf(emulator: Emulator): string {
  const { terminal, internals, further } = emulator;
  const { active } = internals.buffers;
  const hasSaved =
    active.savedX > 0 || active.savedY > active.ybase || penOf(active.savedCurAttrData) !== PLAIN;
  return [
    tabStops(active.tabs, terminal.cols),
    region(active, terminal.rows),
    hasSaved || isGraphics(active.savedCharset)
      ? `${savedCursor(active)}\u001b7${charset(0, undefined)}${PLAIN}`
      : '',
    terminal.modes.originMode ? '\u001b[?6h' : '',
    cursor(emulator),
    selectedCharsets(internals),
    SHIFTS[internals.charsetLevel] ?? '',
    penOf(internals.pen),
    modes(emulator),
    ...further.values(),
    lastCharacter(emulator),
  ].join('');
}

function region({ scrollTop, scrollBottom }: ScreenBuffer, rows: number): string {
  return scrollTop === 0 && scrollBottom === rows - 1 ? '' : `\u001b[${scrollTop + 1};${scrollBottom + 1}r`;
}

/** Restores the saved cursor, pen and character set. */
function savedCursor({ savedX, savedY, ybase, savedCurAttrData, savedCharset }: ScreenBuffer): string {
  const place = `\u001b[${Math.max(0, savedY - ybase) + 1};${savedX + 1}H`;
  return place + penOf(savedCurAttrData) + (isGraphics(savedCharset) ? charset(0, savedCharset) : '');
}

function cursor(emulator: Emulator): string {
  const { terminal, internals } = emulator;
  const { x } = internals.buffers.active;
  if (x < terminal.cols) return place(emulator, x);
  // Past the last column, the next character wraps. Only printing gets the cursor there.
  const cell = cellBefore(emulator, x);
  return cell ? place(emulator, x - cell.getWidth()) + penOf(cell) + cell.getChars() : place(emulator, x - 1);
}

/** A character that was just printed may combine with what follows, so it is printed again at the very end. */
function lastCharacter(emulator: Emulator): string {
  const { terminal, internals } = emulator;
  const { x } = internals.buffers.active;
  const cell = internals.hasJustPrinted && !terminal.modes.insertMode ? cellBefore(emulator, x) : undefined;
  if (!cell || penOf(cell) !== penOf(internals.pen)) return '';
  const chars = cell.getChars();
  const isTranslated = internals.charset?.[chars] !== undefined;
  return isTranslated ? '' : place(emulator, x - cell.getWidth()) + chars;
}

/** The character that ends right before a column, if there is one. */
function cellBefore({ terminal, internals }: Emulator, x: number): IBufferCell | undefined {
  const { y, ybase } = internals.buffers.active;
  const line = terminal.buffer.active.getLine(ybase + y);
  const width = line?.getCell(x - 1)?.getWidth() === 0 ? 2 : 1;
  const cell = line?.getCell(x - width);
  return cell && cell.getChars() !== '' && cell.getWidth() === width ? cell : undefined;
}

function place({ terminal, internals }: Emulator, x: number): string {
  const { y, scrollTop } = internals.buffers.active;
  return `\u001b[${(terminal.modes.originMode ? y - scrollTop : y) + 1};${x + 1}H`;
}

function isGraphics(set: Charset): boolean {
  return set?.['q'] === '─';
}

function charset(index: number, set: Charset): string {
  return `\u001b${DESIGNATORS[index] ?? '('}${isGraphics(set) ? '0' : 'B'}`;
}

function selectedCharsets({ charset: current, charsets, charsetLevel }: TerminalInternals): string {
  return DESIGNATORS.map((_, index) => (index === charsetLevel ? current : charsets[index]))
    .map((each, index) => (isGraphics(each) ? charset(index, each) : ''))
    .join('');
}

function tabStops(tabs: ScreenBuffer['tabs'], cols: number): string {
  const isStop = (column: number): boolean => tabs[column] === true;
  const columns = Array.from({ length: cols }, (_, column) => column);
  if (columns.every((column) => isStop(column) === (column % TAB === 0))) return '';
  return `\u001b[3g${columns
    .filter(isStop)
    .map((column) => `\u001b[1;${column + 1}H\u001bH`)
    .join('')}`;
}

function modes({ terminal, internals }: Emulator): string {
  const { modes: set, options } = terminal;
  const { cursorStyle, cursorBlink, isCursorHidden, mouseEncoding } = internals;
  return [
    set.applicationCursorKeysMode ? '\u001b[?1h' : '',
    set.applicationKeypadMode ? '\u001b=' : '',
    set.bracketedPasteMode ? '\u001b[?2004h' : '',
    set.insertMode ? '\u001b[4h' : '',
    set.reverseWraparoundMode ? '\u001b[?45h' : '',
    set.sendFocusMode ? '\u001b[?1004h' : '',
    set.wraparoundMode ? '' : '\u001b[?7l',
    options.convertEol ? '\u001b[20h' : '',
    MOUSE[set.mouseTrackingMode],
    mouseEncoding === 'SGR' ? '\u001b[?1006h' : '',
    mouseEncoding === 'SGR_PIXELS' ? '\u001b[?1016h' : '',
    cursorStyle ? `\u001b[${CURSORS[cursorStyle] + (cursorBlink ? 0 : 1)} q` : '',
    isCursorHidden ? '\u001b[?25l' : '',
  ].join('');
}

/** The part of a screen that fits into another size, line by line, and the cursor, which is null if hidden. */
export function cropped(
  { terminal, internals }: Emulator,
  { rows, cols }: { rows: number; cols: number },
): { lines: string[]; cursor: { row: number; column: number } | null } {
  const { ybase, x, y } = internals.buffers.active;
  const first = Math.max(0, Math.min(y - rows + 1, terminal.rows - rows));
  const lines = Array.from({ length: Math.min(rows, terminal.rows) }, (_, row) => {
    const line = terminal.buffer.active.getLine(ybase + first + row);
    return line ? drawLine(line, { cols: Math.min(cols, terminal.cols), pen: PLAIN }).text + PLAIN : '';
  });
  const isSeen = !internals.isCursorHidden && x < cols;
  return { lines, cursor: isSeen ? { row: y - first, column: x } : null };
}
