import type { Environment, ExecProcess } from '../../contract/index.js';
import { AlternateScreen } from './alternate-screen.js';
import { currentSize } from './raw-terminal.js';

/** A shorter break is over before anybody wonders. */
const LOST_AFTER_MS = 1_000;
/** Long enough to be read, unless output comes first. */
const BACK_FOR_MS = 3_000;

const LOST = '[execwire: connection lost, reconnecting…]';
const BACK = '[execwire: back]';

const SAVE = '\u001b7';
const RESTORE = '\u001b8';
const REVERSE = '\u001b[0;7m';
const ERASE_REST = '\u001b[0m\u001b[K';
/** Makes sure that there is a line below: at the bottom of the screen everything moves up by one. */
const MAKE_ROOM = '\u001bD\u001b[A';
const TO_NEXT_LINE = '\u001b[B\r';

/**
 * Says on the terminal that the connection is lost, and that it is back. With a full-screen program on it the last line
 * is borrowed, and the program is asked to draw itself again; otherwise it is the line below the cursor.
 */
export class ConnectionNotice implements Disposable {
  readonly #child: ExecProcess;
  readonly #screen = new AlternateScreen();
  readonly #stop: () => void;
  #timer: NodeJS.Timeout | undefined;
  #shown = false;

  constructor(environment: Environment, child: ExecProcess) {
    this.#child = child;
    this.#stop = environment.watchConnection?.((connected) => this.#changed(connected)) ?? (() => undefined);
  }

  /** To be called with output before it is written: a notice must not end up in the middle of it. */
  beforeOutput(bytes: Uint8Array): void {
    this.#clear();
    this.#screen.take(bytes);
  }

  [Symbol.dispose](): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#clear();
  }

  #changed(connected: boolean): void {
    clearTimeout(this.#timer);
    if (!connected) this.#timer = setTimeout(() => this.#show(LOST), LOST_AFTER_MS);
    else if (this.#shown) {
      this.#show(BACK);
      this.#timer = setTimeout(() => this.#clear(), BACK_FOR_MS);
    }
  }

  #show(text: string): void {
    const room = this.#shown || this.#screen.active ? '' : MAKE_ROOM;
    this.#shown = true;
    process.stdout.write(`${room}${SAVE}${this.#toNoticeLine()}${REVERSE}${text}${ERASE_REST}${RESTORE}`);
  }

  #clear(): void {
    if (!this.#shown) return;
    this.#shown = false;
    clearTimeout(this.#timer);
    process.stdout.write(`${SAVE}${this.#toNoticeLine()}${ERASE_REST}${RESTORE}`);
    if (this.#screen.active) void this.#redraw();
  }

  #toNoticeLine(): string {
    return this.#screen.active ? `\u001b[${currentSize().rows};1H` : TO_NEXT_LINE;
  }

  /** A change of size makes every full-screen program draw all of it. Where that cannot be, a line stays empty. */
  async #redraw(): Promise<void> {
    const { rows, cols } = currentSize();
    try {
      await this.#child.resize({ rows: Math.max(1, rows - 1), cols });
      await this.#child.resize({ rows, cols });
    } catch {
      // Neither a server that cannot resize nor a process that is over is worth a word.
    }
  }
}
