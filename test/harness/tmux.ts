// Needs: tmux
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { TestFolder } from './processes.js';

/** Between two looks at the screen. A terminal tells nobody when it has changed. */
const LOOK_MS = 25;
const LOOKS_PER_KEY = 40;

/** A real terminal with one program in it: tmux, on a socket of its own. */
export class Tmux implements Disposable {
  readonly #folder = new TestFolder();

  /** Runs a shell script in a window; the window stays when the script is over. */
  constructor(script: string, { rows, cols }: { rows: number; cols: number }) {
    // Not one word, which tmux would hand to the login shell: not everybody has one.
    const command = ['sh', '-c', script];
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(cols), '-y', String(rows), ...command);
    this.#tmux('set-option', 'remain-on-exit', 'on');
  }

  /** What a person sees, line by line. */
  get screen(): string[] {
    return this.#tmux('capture-pane', '-p')
      .split('\n')
      .map((line) => line.trimEnd());
  }

  /** Where the cursor is: column and row, counted from 0. */
  get cursor(): [number, number] {
    const [x, y] = this.#tmux('display-message', '-p', '#{cursor_x} #{cursor_y}').split(' ').map(Number);
    return [x ?? -1, y ?? -1];
  }

  /** Types text as it stands. */
  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  /** Presses keys by their tmux names: `Enter`, `C-c`. */
  press(...keys: string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  /**
   * Presses a key until the screen looks as expected, for programs that lose one now and then: less leaves its read when
   * the size changes, with the key that was just read if both come at once.
   */
  async pressUntil(key: string, expected: (screen: string[]) => boolean): Promise<void> {
    for (;;) {
      this.press(key);
      for (let look = 0; look < LOOKS_PER_KEY; look += 1) {
        if (expected(this.screen)) return;
        await pause(LOOK_MS);
      }
    }
  }

  resize({ rows, cols }: { rows: number; cols: number }): void {
    this.#tmux('resize-window', '-x', String(cols), '-y', String(rows));
  }

  /** Resolves when the screen looks as expected; the limit of the test ends a wait in vain. */
  async shows(expected: (screen: string[]) => boolean): Promise<string[]> {
    for (;;) {
      const { screen } = this;
      if (expected(screen)) return screen;
      await pause(LOOK_MS);
    }
  }

  /** Resolves when some line of the screen is exactly this. */
  async showsLine(line: string): Promise<string[]> {
    return await this.shows((screen) => screen.includes(line));
  }

  [Symbol.dispose](): void {
    this.#tmux('kill-server');
    this.#folder[Symbol.dispose]();
  }

  #tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.#folder.file('socket'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, TERM: 'xterm-256color' },
    });
  }
}
