import type { IBufferLine } from '@xterm/headless';
import { BACKGROUND, cssColours, FOREGROUND } from './colours.js';
import type { Cues } from './cue.js';
import { finalScreen } from './final-screen.js';
import { escapeMarkup } from './markup.js';
import { type Style, styledRuns } from './styled-runs.js';

/** Lines above the last screen. A browser could not show a page with many more. */
const MAX_LINES = 10_000;

/** The policy forbids loading anything, and running scripts. */
const HEAD = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Recorded terminal</title>
<style>
body { margin: 0; background: ${BACKGROUND}; }
pre { margin: 1em; color: ${FOREGROUND}; font: 14px/1.2 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; direction: ltr; unicode-bidi: bidi-override; }
</style>
</head>
<body>
<pre>`;
const FOOT = '</pre>\n</body>\n</html>\n';

/** A self-contained page with the last screen and its scrollback, in colour. */
export async function* htmlPage(cues: Cues): AsyncGenerator<string, void> {
  const screen = await finalScreen(cues, { scrollback: MAX_LINES, keepErased: true });
  yield HEAD;
  if (screen) {
    if (screen.hasDropped) yield '<i>[earlier lines are left out]</i>\n';
    for (const line of screen.scrollback()) yield htmlLine(line);
    if (screen.isAlternate) for (const line of screen.normalRows()) yield htmlLine(line);
    for (const line of screen.activeRows()) yield htmlLine(line);
  }
  yield FOOT;
}

function htmlLine(line: IBufferLine): string {
  let column = 0;
  let text = '';
  for (const run of styledRuns(line)) {
    text += ' '.repeat(run.column - column);
    column = run.column + run.width;
    const css = cssOf(run.style);
    const content = escapeMarkup(run.text);
    text += css === '' ? content : `<span style="${css}">${content}</span>`;
  }
  return `${text}\n`;
}

function cssOf(style: Style): string {
  const { text, behind } = cssColours(style);
  const lines = [style.underline && 'underline', style.strikethrough && 'line-through'].filter(Boolean);
  return [
    text !== FOREGROUND && `color:${text}`,
    behind !== null && `background:${behind}`,
    style.bold && 'font-weight:bold',
    style.italic && 'font-style:italic',
    style.dim && 'opacity:.6',
    style.invisible && 'visibility:hidden',
    lines.length > 0 && `text-decoration:${lines.join(' ')}`,
  ]
    .filter((rule) => rule !== false)
    .join(';');
}
