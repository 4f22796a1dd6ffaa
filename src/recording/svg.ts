import type { Cues } from './cue.js';
import { finalScreen } from './final-screen.js';
import { SVG_END, svgHead, svgRow } from './svg-drawing.js';

/** Lines that can come back into view when the terminal grows. */
const SCROLLBACK = 1000;

/** The last screen as a picture. */
export async function* svgPicture(cues: Cues): AsyncGenerator<string, void> {
  const screen = await finalScreen(cues, { scrollback: SCROLLBACK });
  yield svgHead(screen ?? { rows: 1, cols: 1 });
  for (let row = 0; row < (screen?.rows ?? 0); row += 1) {
    const line = screen?.row(row);
    if (line) yield svgRow(line, row);
  }
  yield SVG_END;
}
