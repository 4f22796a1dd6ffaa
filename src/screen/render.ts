import { Emulator, SCROLLBACK_LINES } from './emulator.js';
import type { RenderedScreen, RenderJob } from './screen-state.js';
import { snapshot } from './snapshot.js';
import { unfinishedTail } from './unfinished.js';

/** Applies output to a terminal. */
export function render({ from, inputs, shown }: RenderJob): RenderedScreen {
  using emulator = new Emulator(from.size);
  emulator.write(from.text);
  let tail = from.unfinished;
  emulator.write(tail);
  for (const input of inputs) {
    if ('size' in input) emulator.resize(input.size);
    else {
      emulator.write(input.bytes);
      const { isWithinSequence } = emulator.internals;
      // A sequence may have begun in an earlier piece.
      tail = unfinishedTail(Buffer.concat([tail, input.bytes]), { isWithinSequence });
    }
  }
  const { size } = emulator;
  return {
    state: { size, text: snapshot(emulator, { scrollback: SCROLLBACK_LINES }), unfinished: tail },
    shown: shown ? snapshot(emulator, { scrollback: 0 }) : null,
    isAlternate: emulator.terminal.buffer.active.type === 'alternate',
  };
}
