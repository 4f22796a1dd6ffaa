import type { IBufferCell, IBufferLine } from '@xterm/headless';

/** A colour: one of the terminal's palette, or red, green and blue as one number. */
export type Colour =
  | { readonly kind: 'palette'; readonly value: number }
  | { readonly kind: 'rgb'; readonly value: number };

/** The look of text. A null colour is the terminal's default. */
export interface Style {
  readonly foreground: Colour | null;
  readonly background: Colour | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly invisible: boolean;
  readonly strikethrough: boolean;
}

/** Adjacent cells with the same style. */
export interface StyledRun {
  readonly text: string;
  readonly style: Style;
  /** The first column, counted from 0. */
  readonly column: number;
  readonly width: number;
}

/** Characters that are never drawn. */
// eslint-disable-next-line no-control-regex
const UNDRAWN = /[\u0000-\u001f\u007f-\u009f\ufffe\uffff]|\p{Cs}/gu;

/** A line as runs, without plain trailing blanks. Each wide or composed character is a run of its own. */
export function styledRuns(line: IBufferLine, columns = line.length): StyledRun[] {
  const runs: { text: string; style: Style; column: number; width: number; key: string }[] = [];
  let cell: IBufferCell | undefined;
  for (let column = 0; column < Math.min(columns, line.length); column += 1) {
    cell = line.getCell(column, cell);
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue;
    const chars = cell.getChars().replace(UNDRAWN, '\ufffd') || ' ';
    const width = cell.getWidth();
    if (column + width > columns) break;
    const isSimple = width === 1 && chars.length === 1;
    const key = isSimple ? keyOf(cell) : `${column}`;
    const last = runs.at(-1);
    if (last?.key === key) {
      last.text += chars;
      last.width += width;
    } else runs.push({ text: chars, style: styleOf(cell), column, width, key });
  }
  while (isBlank(runs.at(-1))) runs.pop();
  const last = runs.at(-1);
  if (last && isPlain(last.style)) {
    const trimmed = last.text.trimEnd();
    last.width -= last.text.length - trimmed.length;
    last.text = trimmed;
  }
  return runs;
}

function keyOf(cell: IBufferCell): string {
  const attributes = [
    cell.isBold(),
    cell.isDim(),
    cell.isItalic(),
    cell.isUnderline(),
    cell.isInverse(),
    cell.isInvisible(),
    cell.isStrikethrough(),
  ];
  const colours = [cell.getFgColorMode(), cell.getFgColor(), cell.getBgColorMode(), cell.getBgColor()];
  return `${attributes.join('')} ${colours.join(' ')} `;
}

function styleOf(cell: IBufferCell): Style {
  return {
    foreground: colourOf(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()),
    background: colourOf(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    inverse: cell.isInverse() !== 0,
    invisible: cell.isInvisible() !== 0,
    strikethrough: cell.isStrikethrough() !== 0,
  };
}

function colourOf(isRgb: boolean, isPalette: boolean, value: number): Colour | null {
  if (isRgb) return { kind: 'rgb', value };
  return isPalette ? { kind: 'palette', value } : null;
}

function isBlank(run: StyledRun | undefined): boolean {
  return run !== undefined && run.text.trimEnd() === '' && isPlain(run.style);
}

/** Whether blanks in this style are invisible. */
function isPlain({ background, inverse, underline, strikethrough }: Style): boolean {
  return background === null && !inverse && !underline && !strikethrough;
}
