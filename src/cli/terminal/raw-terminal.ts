import type { ExecProcess, TerminalSize } from '../../contract/index.js';

/** The usual size of a terminal that reports none. */
const DEFAULT_SIZE: TerminalSize = { rows: 24, cols: 80 };

/** Modes that are off when a program begins, whatever it does then. */
const OFF: readonly number[] = [1049, 1, 45, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004];

/**
 * Main screen, usual keys and characters, plain text, a visible cursor, no reports of the mouse, of focus or of pasted
 * text.
 */
export const USUAL_MODES = `${OFF.map((mode) => `\u001b[?${mode}l`).join('')}\u001b[?7h\u001b[?25h\u001b[4l\u001b[20l\u001b>\u001b[>4m\u001b(B\u000f\u001b[0m`;
/** Undoes what an interrupted program has left. The end of a scroll region would move the cursor. */
const RESET_SEQUENCE = `${USUAL_MODES}\u001b7\u001b[r\u001b8\r\n`;

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

/** A resize makes every full-screen program redraw. If resizing fails, a line stays empty: not worth an error. */
export async function redrawByResizing(child: ExecProcess): Promise<void> {
  const { rows, cols } = currentSize();
  await child.resize({ rows: Math.max(1, rows - 1), cols }).catch(() => undefined);
  await child.resize({ rows, cols }).catch(() => undefined);
}
