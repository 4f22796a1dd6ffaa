import type { IBufferLine } from '@xterm/headless';
import { BACKGROUND, cssColours, FOREGROUND } from './colours.js';
import type { Cues } from './cue.js';
import { finalScreen } from './final-screen.js';
import { escapeMarkup } from './markup.js';
import { type StyledRun, styledRuns } from './styled-runs.js';

/** Of one cell, in pixels. */
const WIDTH = 8.4;
const HEIGHT = 17;
/** From the top of a cell to the line that letters stand on. */
const BASELINE = 13;
const MARGIN = 10;

/** Lines that come back into view when a terminal becomes higher. */
const SCROLLBACK = 1000;

/** The last screen as a picture. */
export async function* svgPicture(cues: Cues): AsyncGenerator<string, void> {
  const screen = await finalScreen(cues, { scrollback: SCROLLBACK });
  const { rows, cols } = screen ?? { rows: 1, cols: 1 };
  const [width, height] = [pixels(cols * WIDTH + 2 * MARGIN), pixels(rows * HEIGHT + 2 * MARGIN)];
  yield `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n`;
  yield `<rect width="100%" height="100%" rx="6" fill="${BACKGROUND}"/>\n`;
  yield `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">\n`;
  for (let row = 0; row < rows; row += 1) {
    const line = screen?.row(row);
    if (line) yield svgLine(line, MARGIN + row * HEIGHT);
  }
  yield '</g>\n</svg>\n';
}

function svgLine(line: IBufferLine, top: number): string {
  const runs = styledRuns(line);
  return runs.map((run) => behindOf(run, top)).join('') + runs.map((run) => textOf(run, top)).join('');
}

function behindOf({ style, column, width }: StyledRun, top: number): string {
  const { behind } = cssColours(style);
  if (behind === null) return '';
  return `<rect x="${left(column)}" y="${top}" width="${pixels(width * WIDTH)}" height="${HEIGHT}" fill="${behind}"/>\n`;
}

/** The length is given, so that columns stay in line whatever font there is. */
function textOf({ text, style, column, width }: StyledRun, top: number): string {
  const isDecorated = style.underline || style.strikethrough;
  if (style.invisible || (text.trim() === '' && !isDecorated)) return '';
  const place = `x="${left(column)}" y="${top + BASELINE}" textLength="${pixels(width * WIDTH)}"`;
  return `<text ${place} lengthAdjust="spacingAndGlyphs" xml:space="preserve"${attributesOf(style)}>${escapeMarkup(text)}</text>\n`;
}

function attributesOf(style: StyledRun['style']): string {
  const { text } = cssColours(style);
  const lines = [style.underline && 'underline', style.strikethrough && 'line-through'].filter(Boolean);
  return [
    text !== FOREGROUND && ` fill="${text}"`,
    style.bold && ' font-weight="bold"',
    style.italic && ' font-style="italic"',
    style.dim && ' opacity="0.6"',
    lines.length > 0 && ` text-decoration="${lines.join(' ')}"`,
  ]
    .filter((attribute) => attribute !== false)
    .join('');
}

function left(column: number): string {
  return pixels(MARGIN + column * WIDTH);
}

function pixels(value: number): string {
  return String(Math.round(value * 10) / 10);
}
