import type { IBuffer, IBufferCell, IBufferLine } from '@xterm/headless';
import { backgroundPen, penOf, PLAIN } from './pen.js';

/** A character may carry any number of marks, but only a few are visible. */
const MAX_CELL_CHARS = 32;

/** Text that draws cells on an empty screen, and the resulting cursor position. */
interface Drawn {
  readonly text: string;
  readonly column: number;
  readonly pen: string;
}

/** Draws one line from its beginning, up to a column. The cells must be empty. */
export function drawLine(line: IBufferLine, { cols, pen }: { cols: number; pen: string }): Drawn {
  let [text, column, current, x] = ['', 0, pen, 0];
  const use = (wanted: string): void => {
    if (wanted !== current) text += wanted;
    current = wanted;
  };
  const moveTo = (target: number): void => {
    if (target > column) text += `\u001b[${target - column}C`;
    column = target;
  };
  while (x < cols) {
    const cell = line.getCell(x);
    if (!cell) break;
    const [chars, width] = [cell.getChars(), cell.getWidth()];
    if (isEmpty(cell)) {
      const count = emptyRun(line, x, cols);
      const background = backgroundPen(cell);
      if (background !== PLAIN) {
        moveTo(x);
        use(background);
        text += `\u001b[${count}X`;
      }
      x += count;
    } else {
      // A wide character cut off by the edge is not shown.
      if (x + width > cols) break;
      moveTo(x);
      use(penOf(cell));
      text += chars === '' ? ' ' : chars.slice(0, MAX_CELL_CHARS);
      x += Math.max(1, width);
      column = x;
    }
  }
  return { text, column, pen: current };
}

/** Whether a cell shows only its background. Half of a wide character may leave a cell that looks like a space. */
function isEmpty(cell: IBufferCell): boolean {
  return cell.getChars() === '' && (cell.getWidth() === 0 || penOf(cell) === backgroundPen(cell));
}

/** The number of cells from here on that have no character and share a background. */
function emptyRun(line: IBufferLine, from: number, cols: number): number {
  const background = backgroundPen(line.getCell(from) as IBufferCell);
  let end = from + 1;
  for (; end < cols; end += 1) {
    const cell = line.getCell(end);
    if (!cell || !isEmpty(cell) || backgroundPen(cell) !== background) break;
  }
  return end - from;
}

/** Draws lines of a buffer one below the other. Lines that the terminal wrapped are wrapped again. */
export function drawLines(
  buffer: IBuffer,
  { from, to, cols }: { from: number; to: number; cols: number },
): string {
  let [text, pen, column] = ['', PLAIN, 0];
  for (let y = from; y < to; y += 1) {
    const line = buffer.getLine(y);
    if (!line) break;
    if (y > from && !continues(line, column, cols)) {
      // Lines that scroll in take the background of the pen.
      text += pen === PLAIN ? '\r\n' : `${PLAIN}\r\n`;
      pen = PLAIN;
    }
    const drawn = drawLine(line, { cols, pen });
    text += drawn.text;
    ({ pen, column } = drawn);
  }
  return text;
}

/** Whether printing on from this column of the previous line continues in this line. */
function continues(line: IBufferLine, column: number, cols: number): boolean {
  const first = line.getCell(0);
  if (!line.isWrapped || !first || first.getChars() === '') return false;
  return column === cols || (column === cols - 1 && first.getWidth() === 2);
}
