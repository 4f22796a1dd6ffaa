import type { Terminal } from '@xterm/headless';
import type { TerminalInternals } from './internals.js';

/** Sequences that the emulator repeats as often as they ask, by their final character. */
const REPEATED: Readonly<Record<string, { readonly handler: string; readonly most: keyof Bounds }>> = {
  L: { handler: 'insertLines', most: 'rows' },
  M: { handler: 'deleteLines', most: 'rows' },
  S: { handler: 'scrollUp', most: 'rows' },
  T: { handler: 'scrollDown', most: 'rows' },
  I: { handler: 'cursorForwardTab', most: 'cols' },
  Z: { handler: 'cursorBackwardTab', most: 'cols' },
  b: { handler: 'repeatPrecedingCharacter', most: 'cells' },
};

/** Begins or ends a link. */
const HYPERLINK = 8;

interface Bounds {
  readonly rows: number;
  readonly cols: number;
  readonly cells: number;
}

/** Guards the emulator against sequences that would take minutes or make it throw. The screen looks the same. */
export function guard(terminal: Terminal, internals: TerminalInternals): void {
  boundRepeats(terminal, internals);
  guardErase(terminal, internals);
  forgetLinks(terminal);
}

/** Drops links. Nobody sees their targets, and the emulator remembers every one, at several kilobytes each. */
function forgetLinks(terminal: Terminal): void {
  terminal.parser.registerOscHandler(HYPERLINK, () => true);
}

/** Caps repetitions at what fits on the screen, which looks the same. */
function boundRepeats(terminal: Terminal, internals: TerminalInternals): void {
  for (const [final, { handler, most }] of Object.entries(REPEATED))
    terminal.parser.registerCsiHandler({ final }, ([count]) => {
      const { rows, cols } = terminal;
      const bound = { rows, cols, cells: rows * cols }[most];
      if (typeof count !== 'number' || count <= bound) return false;
      return internals.run(handler, bound);
    });
}

/** Erasing up to the last cell makes the emulator look for the line below it, so it is replaced by erasing everything. */
function guardErase(terminal: Terminal, internals: TerminalInternals): void {
  terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    const { x, y } = internals.buffers.active;
    if (what !== 1 || y < terminal.rows - 1 || x < terminal.cols - 1) return false;
    return internals.run('eraseInDisplay', 2);
  });
}
