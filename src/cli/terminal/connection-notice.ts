import type { Environment, ExecProcess } from '../../contract/index.js';
import { AlternateScreen } from './alternate-screen.js';
import { currentSize } from './raw-terminal.js';

/** A shorter interruption goes unnoticed. */
const LOST_AFTER_MS = 1_000;
/** Long enough to read, unless output comes first. */
const BACK_FOR_MS = 3_000;

const LOST = '[execwire: connection lost, reconnecting…]';
const BACK = '[execwire: back]';

const SAVE = '\u001b7';
const RESTORE = '\u001b8';
const REVERSE = '\u001b[0;7m';
const ERASE_REST = '\u001b[0m\u001b[K';
/** Makes sure there is a line below: at the bottom of the screen, everything scrolls up by one. */
const MAKE_ROOM = '\u001bD\u001b[A';
const TO_NEXT_LINE = '\u001b[B\r';

/**
 * Shows on the terminal that the connection is lost, and when it is back. Uses the line below the cursor, or the last
 * line of a full-screen program, which is then asked to redraw.
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

  /** Call before writing output: a notice must not end up in the middle of it. */
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

  /** A resize makes every full-screen program redraw. If resizing fails, a line stays empty. */
  async #redraw(): Promise<void> {
    const { rows, cols } = currentSize();
    try {
      await this.#child.resize({ rows: Math.max(1, rows - 1), cols });
      await this.#child.resize({ rows, cols });
    } catch {
      // The server cannot resize, or the process has ended: not worth an error.
    }
  }
}
