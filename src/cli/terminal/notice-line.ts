import { AlternateScreen } from './alternate-screen.js';
import { currentSize } from './raw-terminal.js';

const SAVE = '\u001b7';
const RESTORE = '\u001b8';
const REVERSE = '\u001b[0;7m';
const ERASE_REST = '\u001b[0m\u001b[K';
/** Makes sure there is a line below: at the bottom of the screen, everything scrolls up by one. */
const MAKE_ROOM = '\u001bD\u001b[A';
const TO_NEXT_LINE = '\u001b[B\r';

/**
 * A line on the terminal of a program that is not the program's: the one below the cursor, or the last one of a
 * full-screen program, which is then drawn again. Output takes it away.
 */
export class NoticeLine {
  readonly #screen = new AlternateScreen();
  readonly #redraw: () => Promise<void>;
  #text = '';

  constructor(redraw: () => Promise<void>) {
    this.#redraw = redraw;
  }

  get isShown(): boolean {
    return this.#text !== '';
  }

  /** Call before writing output: a notice must not end up in the middle of it. */
  beforeOutput(bytes: Uint8Array): void {
    this.clear();
    this.#screen.take(bytes);
  }

  show(text: string): void {
    const { cols } = currentSize();
    const room = this.isShown || this.#screen.active ? '' : MAKE_ROOM;
    this.#text = text.slice(0, cols);
    this.#write(`${room}${SAVE}${this.#place()}${REVERSE}${this.#text}${ERASE_REST}${RESTORE}`);
  }

  /** Takes it away, if it is still the one with this text. */
  clear(text = this.#text): void {
    if (!this.isShown || !text.startsWith(this.#text)) return;
    this.#text = '';
    this.#write(`${SAVE}${this.#place()}${ERASE_REST}${RESTORE}`);
    if (this.#screen.active) void this.#redraw();
  }

  #place(): string {
    return this.#screen.active ? `\u001b[${currentSize().rows};1H` : TO_NEXT_LINE;
  }

  #write(text: string): void {
    process.stdout.write(text);
  }
}
