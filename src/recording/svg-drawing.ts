import type { IBufferLine } from '@xterm/headless';
import type { TerminalSize } from '../contract/index.js';
import { BACKGROUND, cssColours, FOREGROUND } from './colours.js';
import { escapeMarkup } from './markup.js';
import { type StyledRun, styledRuns } from './styled-runs.js';

/** The width of a cell, in pixels. */
const WIDTH = 8.4;
const HEIGHT = 17;
/** The distance from the top of a cell to the baseline. */
const BASELINE = 13;
const MARGIN = 10;

/** The window frame around the screen. */
export function svgHead({ rows, cols }: TerminalSize): string {
  const [width, height] = [pixels(cols * WIDTH + 2 * MARGIN), pixels(rows * HEIGHT + 2 * MARGIN)];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n` +
    `<rect width="100%" height="100%" rx="6" fill="${BACKGROUND}"/>\n` +
    `<g font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${FOREGROUND}">\n`
  );
}

export const SVG_END = '</g>\n</svg>\n';

/** A line of the screen, with rows counted from 0. Empty if nothing in it is visible. */
export function svgRow(line: IBufferLine, row: number, columns?: number): string {
  const top = MARGIN + row * HEIGHT;
  const runs = styledRuns(line, columns);
  return runs.map((run) => behindOf(run, top)).join('') + runs.map((run) => textOf(run, top)).join('');
}

/** The cursor, as a translucent block. */
export function svgCursor({ x, y }: { readonly x: number; readonly y: number }): string {
  const [width, top] = [pixels(WIDTH), MARGIN + y * HEIGHT];
  return `<rect x="${left(x)}" y="${top}" width="${width}" height="${HEIGHT}" fill="${FOREGROUND}" opacity="0.5"/>\n`;
}

function behindOf({ style, column, width }: StyledRun, top: number): string {
  const { behind } = cssColours(style);
  if (behind === null) return '';
  return `<rect x="${left(column)}" y="${top}" width="${pixels(width * WIDTH)}" height="${HEIGHT}" fill="${behind}"/>\n`;
}

/** Sets the text length explicitly, so that columns stay aligned in any font. */
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
