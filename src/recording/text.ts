import type { IBufferLine } from '@xterm/headless';
import { type Cues, withoutTimes } from './cue.js';
import { RecordedScreen } from './recorded-screen.js';

/** Lines that may scroll off between two reads. */
const SCROLLBACK = 4096;

/**
 * The text that scrolling up in the terminal would show: without colours, and after carriage returns and cursor movements
 * have taken effect. Erased screens are included. A full-screen program contributes only its last screen, and only if it
 * never leaves it.
 */
export async function* plainText(cues: Cues): AsyncGenerator<string, void> {
  let screen: RecordedScreen | undefined;
  const lines = new Lines();
  for await (const cue of withoutTimes(cues)) {
    if (cue.type === 'start')
      screen = new RecordedScreen({ size: cue.size, scrollback: SCROLLBACK, keepErased: true });
    else if (cue.type === 'resize') screen?.resize(cue.size);
    else if (cue.type === 'text' && screen)
      for await (const _ of screen.write(cue.text)) yield* lines.text(screen.departed());
  }
  if (!screen) return;
  yield* lines.text(screen.departed());
  yield* lines.text(screen.normalRows());
  if (screen.isAlternate) yield* lines.text(screen.activeRows());
  yield lines.end();
}

/** Joins lines that were wrapped at the edge of the screen. */
class Lines {
  #isFirst = true;

  *text(lines: Iterable<IBufferLine>): Generator<string, void> {
    let text = '';
    for (const line of lines) {
      if (!this.#isFirst && !line.isWrapped) text += '\n';
      this.#isFirst = false;
      text += line.translateToString(true);
    }
    if (text !== '') yield text;
  }

  end(): string {
    return this.#isFirst ? '' : '\n';
  }
}
