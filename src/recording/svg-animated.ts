import type { TerminalSize } from '../contract/index.js';
import type { Cues } from './cue.js';
import { RecordedScreen } from './recorded-screen.js';
import { schedule } from './schedule.js';
import { SVG_END, svgCursor, svgHead, svgRow } from './svg-drawing.js';

/** Ten frames per second are enough for typing to look natural, and bound the cost of a flood. */
const FRAME_MS = 100;
/** Longer pauses are cut, because nobody watches a still picture. */
const IDLE_LIMIT_MS = 2_000;
/** How long the last screen stays before the animation restarts. */
const LAST_MS = 3_000;
/** Lines that can come back into view when the terminal grows. */
const SCROLLBACK = 1000;

/** The content of one row, and since when it is visible. */
interface Shown {
  readonly markup: string;
  readonly sinceMs: number;
}

/**
 * A recording as an animated picture without scripts, in the initial size of the terminal. It contains each version of a
 * line with the time in which it is visible, so lines that stay cost nothing, and only the screen has to be in memory.
 * Viewers that do not animate show the last screen.
 */
export async function* svgAnimation(cues: Cues): AsyncGenerator<string, void> {
  let film: Film | null = null;
  let nowMs = 0;
  for await (const { waitMs, cue } of schedule(cues, { idleLimitMs: IDLE_LIMIT_MS })) {
    if (film?.isDue(nowMs + waitMs)) yield* film.frame(nowMs);
    nowMs += waitMs;
    if (cue.type === 'start' && film === null) {
      film = new Film(cue.size);
      yield svgHead(film.size);
    } else if (cue.type === 'resize') film?.screen.resize(cue.size);
    else if (cue.type === 'text') await film?.screen.draw(cue.text);
  }
  if (film === null) yield svgHead({ rows: 1, cols: 1 });
  else {
    yield* film.frame(nowMs);
    yield* film.end(nowMs + LAST_MS);
  }
  yield SVG_END;
}

/** The screen over time. */
class Film {
  readonly screen: RecordedScreen;
  readonly size: TerminalSize;
  /** By row, with the cursor last. */
  readonly #shown: Shown[];
  #lastFrameMs = 0;

  constructor(size: TerminalSize) {
    this.screen = new RecordedScreen({ size, scrollback: SCROLLBACK });
    this.size = { rows: this.screen.rows, cols: this.screen.cols };
    this.#shown = Array.from({ length: this.size.rows + 1 }, () => ({ markup: '', sinceMs: 0 }));
  }

  /** Whether the current screen stays visible long enough to need a frame. */
  isDue(untilMs: number): boolean {
    return untilMs - this.#lastFrameMs >= FRAME_MS;
  }

  /** The content that is no longer visible from now on. */
  *frame(nowMs: number): Generator<string, void> {
    this.#lastFrameMs = nowMs;
    for (const [row, before] of this.#shown.entries()) {
      const markup = this.#markupOf(row);
      if (markup === before.markup) continue;
      this.#shown[row] = { markup, sinceMs: nowMs };
      if (before.markup !== '' && before.sinceMs < nowMs)
        yield `<g visibility="hidden">${during('visible', before.sinceMs, nowMs)}\n${before.markup}</g>\n`;
    }
  }

  /** The remaining content, and the clock of the animation. */
  *end(lengthMs: number): Generator<string, void> {
    for (const { markup, sinceMs } of this.#shown)
      if (markup !== '') yield `<g>${sinceMs > 0 ? during('hidden', 0, sinceMs) : ''}\n${markup}</g>\n`;
    yield `<rect width="0" height="0"><animate id="film" attributeName="x" from="0" to="0" begin="0s;film.end" dur="${seconds(lengthMs)}"/></rect>\n`;
  }

  #markupOf(row: number): string {
    if (row < this.size.rows) {
      const line = row < this.screen.rows ? this.screen.row(row) : undefined;
      return line ? svgRow(line, row, this.size.cols) : '';
    }
    const { cursor } = this.screen;
    return cursor && cursor.x < this.size.cols && cursor.y < this.size.rows ? svgCursor(cursor) : '';
  }
}

function during(visibility: 'visible' | 'hidden', fromMs: number, toMs: number): string {
  return `<set attributeName="visibility" to="${visibility}" begin="film.begin+${seconds(fromMs)}" dur="${seconds(toMs - fromMs)}"/>`;
}

function seconds(ms: number): string {
  return `${Math.round(ms) / 1000}s`;
}
