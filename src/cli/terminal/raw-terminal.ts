import type { ExecProcess, TerminalSize } from '../../contract/index.js';

/** What a terminal has when nobody says. */
const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Main screen, cursor on, plain text, no mouse reports, no bracketed paste: what a program cut off leaves behind. */
const RESET_SEQUENCE =
  '\u001b[?1049l\u001b[?25h\u001b[0m\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?2004l\r\n';

/** Our terminal, handed to a process: keys go there unread, and so does every change of size. */
export class RawTerminal implements Disposable {
  readonly #child: ExecProcess;
  readonly #resized = (): void => {
    // Servers of others cannot resize, and a process may be over: neither is worth a word.
    this.#child.resize(currentSize()).catch(() => undefined);
  };

  constructor(child: ExecProcess) {
    this.#child = child;
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdout.on('resize', this.#resized);
    // It may have changed between the start and now.
    if (process.stdout.isTTY) this.#resized();
  }

  /** Puts the screen in order after a program that could not do so itself. */
  reset(): void {
    if (process.stdout.isTTY) process.stdout.write(RESET_SEQUENCE);
  }

  [Symbol.dispose](): void {
    process.stdout.removeListener('resize', this.#resized);
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
  }
}

/** The size of our terminal, wherever one is attached. */
export function currentSize(): TerminalSize {
  const { rows, columns } = process.stdout.isTTY ? process.stdout : process.stderr;
  // A terminal that was never told its size reports zero.
  return rows && columns ? { rows, cols: columns } : DEFAULT_SIZE;
}
