import type { IBufferLine } from '@xterm/headless';
import type { TerminalSize } from '../contract/index.js';
import type { RecordedScreen } from './recorded-screen.js';
import { type Colour, type Style, styledRuns } from './styled-runs.js';

const CONTROL = '\u001b[';
const HIDE_CURSOR = `${CONTROL}?25l`;
const SHOW_CURSOR = `${CONTROL}?25h`;

/**
 * Draws a recorded screen on a real terminal. It sends only its own sequences for positions and colours, and printable
 * characters from the cells. No sequence of the recording reaches the terminal.
 */
export class ScreenPainter {
  /** The last drawn text of each row. */
  #shown: string[] = [];

  /** Makes the next frame draw everything again. */
  forget(): void {
    this.#shown = [];
  }

  /** The output that updates the terminal to show as much of the screen as fits. */
  frame(screen: RecordedScreen, terminal: TerminalSize): string {
    let frame = '';
    for (let row = 0; row < terminal.rows; row += 1) {
      const line = row < screen.rows ? screen.row(row) : undefined;
      const drawn = line ? paintedLine(line, { columns: terminal.cols, row }) : '';
      if (this.#shown[row] === drawn) continue;
      this.#shown[row] = drawn;
      frame += `${place(row, 0)}${CONTROL}0m${CONTROL}2K${drawn}`;
    }
    return HIDE_CURSOR + frame + cursor(screen, terminal);
  }
}

/** A line with its colours. With `row`, characters whose width varies between terminals are positioned explicitly. */
export function paintedLine(line: IBufferLine, options: { columns?: number; row?: number } = {}): string {
  const { columns, row } = options;
  let text = '';
  let column = 0;
  for (const run of styledRuns(line, columns)) {
    if (row !== undefined && run.column > 0) text += place(row, run.column);
    else text += ' '.repeat(Math.max(0, run.column - column));
    column = run.column + run.width;
    text += attributes(run.style) + (run.style.invisible ? ' '.repeat(run.width) : run.text);
  }
  return text === '' ? '' : `${text}${CONTROL}0m`;
}

function cursor(screen: RecordedScreen, terminal: TerminalSize): string {
  const { cursor: at } = screen;
  if (!at || at.y >= terminal.rows) return '';
  return place(at.y, Math.min(at.x, screen.cols - 1, terminal.cols - 1)) + SHOW_CURSOR;
}

function place(row: number, column: number): string {
  return `${CONTROL}${row + 1};${column + 1}H`;
}

function attributes(style: Style): string {
  const codes = [
    0,
    style.bold && 1,
    style.dim && 2,
    style.italic && 3,
    style.underline && 4,
    style.inverse && 7,
    style.strikethrough && 9,
    ...colourCodes(style.foreground, 30),
    ...colourCodes(style.background, 40),
  ];
  return `${CONTROL}${codes.filter((code) => code !== false).join(';')}m`;
}

/** `base`: 30 for the foreground, 40 for the background. */
function colourCodes(colour: Colour | null, base: 30 | 40): number[] {
  if (!colour) return [];
  const { kind, value } = colour;
  if (kind === 'rgb') return [base + 8, 2, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
  if (value < 8) return [base + value];
  return value < 16 ? [base + 60 + value - 8] : [base + 8, 5, value];
}
