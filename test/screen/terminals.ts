import { Emulator } from '../../src/screen/emulator.js';
import { penOf } from '../../src/screen/pen.js';
import type { ScreenState } from '../../src/screen/screen-state.js';

/** A fresh terminal that is given a state. */
export function restored({ size, text, unfinished }: ScreenState): Emulator {
  const emulator = new Emulator(size);
  emulator.write(text);
  emulator.write(unfinished);
  return emulator;
}

/** Everything of a terminal that a person or a program can tell. */
export function facts(emulator: Emulator): unknown {
  const { terminal, internals } = emulator;
  const { active, normal } = internals.buffers;
  const { modes } = terminal;
  const place = ({ savedX, savedY, ybase }: typeof active): unknown => [
    Math.min(savedX, terminal.cols - 1),
    Math.max(0, savedY - ybase),
  ];
  return {
    size: emulator.size,
    isAlternate: active !== normal,
    cursor: [cursorColumn(emulator), active.y],
    saved: place(active),
    savedBelow: active === normal ? null : place(normal),
    region: [active.scrollTop, active.scrollBottom],
    pen: penOf(internals.pen),
    hidden: internals.isCursorHidden,
    style: internals.cursorStyle,
    mouse: internals.mouseEncoding,
    charset: internals.charset?.['q'] ?? 'q',
    level: internals.charsetLevel,
    modes: { ...modes, synchronizedOutputMode: false, applicationKeypadMode: modes.applicationKeypadMode },
    further: [...emulator.further],
    cells: cells(emulator, 'active'),
    below: active === normal ? null : cells(emulator, 'normal'),
  };
}

/** Behind the last column the next character wraps. Nothing leads there again if that cell was erased meanwhile. */
function cursorColumn({ terminal, internals }: Emulator): number {
  const { x, y, ybase } = internals.buffers.active;
  const last = terminal.buffer.active.getLine(ybase + y)?.getCell(terminal.cols - 1);
  const before = terminal.buffer.active.getLine(ybase + y)?.getCell(terminal.cols - 2);
  const isErased = last?.getChars() === '' && before?.getWidth() !== 2;
  return isErased ? Math.min(x, terminal.cols - 1) : x;
}

/** The visible cells: characters, widths and looks. */
export function cells({ terminal, internals }: Emulator, which: 'active' | 'normal'): string[] {
  const buffer = terminal.buffer[which];
  const { ybase } = internals.buffers[which];
  return Array.from({ length: terminal.rows }, (_, row) => {
    const line = buffer.getLine(ybase + row);
    let text = '';
    for (let x = 0; x < terminal.cols; x += 1) {
      const cell = line?.getCell(x);
      if (cell)
        text += `${cell.getChars() || ' '}${cell.getWidth() === 2 ? '+' : ''}${penOf(cell).slice(1)}|`;
    }
    return text;
  });
}
