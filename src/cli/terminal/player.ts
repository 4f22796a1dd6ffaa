import type { Scheduled } from '../../recording/index.js';
import { paintedLine, RecordedScreen, ScreenPainter } from '../../recording/index.js';
import { PlaybackClock } from './playback-clock.js';
import { PlayerTerminal } from './player-terminal.js';
import { write } from './print-output.js';
import { currentSize } from './raw-terminal.js';

/** Lines that come back into view when a terminal becomes higher. */
const SCROLLBACK = 1000;
/** Between two drawings: more often nobody could see. */
const FRAME_MS = 15;

/** Plays a recording on our terminal, and leaves that as it was. */
export class Player implements Disposable {
  readonly #clock = new PlaybackClock();
  readonly #painter = new ScreenPainter();
  readonly #terminal: PlayerTerminal;
  #screen: RecordedScreen | undefined;
  #drawnAtMs = 0;

  constructor() {
    this.#terminal = new PlayerTerminal({
      key: (key) => this.#key(key),
      resized: () => {
        this.#painter.forget();
        void this.#draw();
      },
    });
  }

  async play(scheduled: AsyncIterable<Scheduled>): Promise<void> {
    for await (const { waitMs, cue } of scheduled) {
      if (waitMs >= FRAME_MS || (waitMs >= 1 && this.#isDue())) await this.#draw();
      if (!(await this.#clock.wait(waitMs))) return;
      if (cue.type === 'start') this.#begin(cue.size);
      else if (cue.type === 'resize') this.#screen?.resize(cue.size);
      // Text that takes long to draw must not delay leaving.
      else if (cue.type === 'text') await Promise.race([this.#screen?.draw(cue.text), this.#clock.stopped]);
      if (this.#clock.isPaused) await this.#draw();
    }
    await this.#end();
  }

  [Symbol.dispose](): void {
    this.#clock.stop();
    this.#terminal.leave();
  }

  #begin(size: { rows: number; cols: number }): void {
    const own = currentSize();
    if (size.rows > own.rows || size.cols > own.cols)
      process.stderr.write(
        `execwire: recorded on ${size.cols}x${size.rows}, this terminal is ${own.cols}x${own.rows}: the rest is cut off\n`,
      );
    this.#screen = new RecordedScreen({ size, scrollback: SCROLLBACK });
    this.#terminal.enter();
  }

  #isDue(): boolean {
    return this.#clock.isPaused || performance.now() - this.#drawnAtMs >= FRAME_MS;
  }

  async #draw(): Promise<void> {
    if (!this.#screen || !this.#terminal.isEntered) return;
    this.#drawnAtMs = performance.now();
    // Without a reader there is nothing left to do.
    await write(process.stdout, this.#painter.frame(this.#screen, currentSize())).catch(() =>
      this.#clock.stop(),
    );
  }

  /** The last screen stays, where the next prompt follows. */
  async #end(): Promise<void> {
    this.#terminal.leave();
    if (!this.#screen) return;
    const columns = currentSize().cols;
    const lines = [...this.#screen.activeRows()].map((line) => `${paintedLine(line, { columns })}\n`);
    await write(process.stdout, lines.join('')).catch(() => undefined);
  }

  #key(key: string): void {
    if (key === ' ') this.#clock.togglePause();
    else if (key === '.') this.#clock.step();
    // Ctrl-C and Ctrl-D, which are mere keys now.
    else if (key === 'q' || key === '\u0003' || key === '\u0004') this.#clock.stop();
  }
}
