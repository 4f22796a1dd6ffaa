import type { ExecProcess, TerminalSize } from '../../contract/index.js';

/** The usual size of a terminal that reports none. */
const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Main screen, cursor on, plain text, no mouse reports, no bracketed paste: undoes what an interrupted program left. */
const RESET_SEQUENCE =
  '\u001b[?1049l\u001b[?25h\u001b[0m\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?2004l\r\n';

/** Our terminal in raw mode, attached to a process: forwards every resize. */
export class RawTerminal implements Disposable {
  readonly #child: ExecProcess;
  readonly #resized = (): void => {
    // Other servers cannot resize, or the process has ended: not worth an error.
    this.#child.resize(currentSize()).catch(() => undefined);
  };

  constructor(child: ExecProcess) {
    this.#child = child;
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdout.on('resize', this.#resized);
    // The size may have changed since the process was started.
    if (process.stdout.isTTY) this.#resized();
  }

  /** Restores the screen after a program that could not do so itself. */
  reset(): void {
    if (process.stdout.isTTY) process.stdout.write(RESET_SEQUENCE);
  }

  [Symbol.dispose](): void {
    process.stdout.removeListener('resize', this.#resized);
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
  }
}

/** The size of the terminal on stdout, or else on stderr. */
export function currentSize(): TerminalSize {
  const { rows, columns } = process.stdout.isTTY ? process.stdout : process.stderr;
  // A terminal whose size was never set reports zero.
  return rows && columns ? { rows, cols: columns } : DEFAULT_SIZE;
}
