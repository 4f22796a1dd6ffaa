import type { TerminalScreen, TerminalSize } from '../contract/index.js';
import { Emulator } from './emulator.js';
import { cropped } from './snapshot.js';

/** Shows a screen on a terminal of any size. What does not fit is cut off, but the cursor always stays visible. */
export class PaintedScreen implements Disposable {
  #emulator: Emulator;
  #painted: readonly string[] = [];
  #paintedSize = '';

  constructor(screen: TerminalScreen) {
    this.#emulator = restored(screen);
  }

  /** Starts over with another screen. */
  replace(screen: TerminalScreen): void {
    this.#emulator[Symbol.dispose]();
    this.#emulator = restored(screen);
  }

  write(bytes: Uint8Array): void {
    this.#emulator.write(bytes);
  }

  resize(size: TerminalSize): void {
    this.#emulator.resize(size);
  }

  /** The output that updates a terminal of this size since the last call. */
  paint(size: TerminalSize): string {
    const { lines, cursor } = cropped(this.#emulator, size);
    const sizeText = `${size.rows}x${size.cols}`;
    const before = sizeText === this.#paintedSize ? this.#painted : [];
    const isWiped = before.length !== lines.length;
    const changed = lines.map((line, row) =>
      !isWiped && line === before[row] ? '' : `\u001b[${row + 1};1H\u001b[m\u001b[2K${line}`,
    );
    this.#painted = lines;
    this.#paintedSize = sizeText;
    const place = cursor ? `\u001b[${cursor.row + 1};${cursor.column + 1}H\u001b[?25h` : '\u001b[?25l';
    return `\u001b[?25l\u001b[?7l${isWiped ? '\u001b[m\u001b[2J' : ''}${changed.join('')}${place}`;
  }

  [Symbol.dispose](): void {
    this.#emulator[Symbol.dispose]();
  }
}

function restored({ size, bytes }: TerminalScreen): Emulator {
  const emulator = new Emulator(size);
  emulator.write(bytes);
  return emulator;
}
