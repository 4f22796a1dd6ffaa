import { createRequire } from 'node:module';
import type { Terminal as XtermTerminal } from '@xterm/headless';
import type { TerminalSize } from '../contract/index.js';
import { guard } from './guards.js';
import { internalsOf, type TerminalInternals } from './internals.js';

// The package is CommonJS, and Node cannot detect its named exports.
const { Terminal } = createRequire(import.meta.url)('@xterm/headless') as typeof import('@xterm/headless');

/** Modes that programs rely on but the emulator does not know: alternate scroll, urxvt mouse reports. */
const FURTHER_MODES: readonly number[] = [1007, 1015];
/** Output is parsed in slices. If one makes the emulator throw, at most this much is lost. */
const SLICE = 16 * 1024;
/** Lines of scrollback. A terminal that grows brings them back into view. */
export const SCROLLBACK_LINES = 200;

/**
 * A terminal that nobody sees. Its answers to the program are dropped, because the program talks to the terminal of the
 * person who types.
 */
export class Emulator implements Disposable {
  readonly terminal: XtermTerminal;
  readonly internals: TerminalInternals;
  /** Sequences for settings the emulator does not know, by setting. */
  readonly further = new Map<string, string>();

  constructor({ rows, cols }: TerminalSize) {
    this.terminal = new Terminal({
      rows,
      cols,
      scrollback: SCROLLBACK_LINES,
      allowProposedApi: true,
      logLevel: 'off',
    });
    this.internals = internalsOf(this.terminal);
    guard(this.terminal, this.internals);
    this.#noteModes();
  }

  get size(): TerminalSize {
    const { rows, cols } = this.terminal;
    return { rows, cols };
  }

  /** Takes effect synchronously. */
  write(data: Uint8Array | string): void {
    for (let from = 0; from < data.length; from += SLICE) {
      const end = from + SLICE;
      this.internals.parse(typeof data === 'string' ? data.slice(from, end) : data.subarray(from, end));
    }
  }

  resize({ rows, cols }: TerminalSize): void {
    this.terminal.resize(cols, rows);
  }

  [Symbol.dispose](): void {
    this.terminal.dispose();
  }

  #noteModes(): void {
    const { parser } = this.terminal;
    for (const final of ['h', 'l'])
      parser.registerCsiHandler({ prefix: '?', final }, (params) => {
        for (const mode of params)
          if (typeof mode === 'number' && FURTHER_MODES.includes(mode))
            this.#note(`mode ${mode}`, final === 'h' ? `\u001b[?${mode}h` : '');
        return false;
      });
    // The encoding of modified keys.
    parser.registerCsiHandler({ prefix: '>', final: 'm' }, ([what, value]) => {
      if (what === 4) this.#note('keys', typeof value === 'number' && value > 0 ? `\u001b[>4;${value}m` : '');
      return false;
    });
    parser.registerEscHandler({ final: 'c' }, () => {
      this.further.clear();
      return false;
    });
  }

  #note(what: string, sequence: string): void {
    if (sequence === '') this.further.delete(what);
    else this.further.set(what, sequence);
  }
}
