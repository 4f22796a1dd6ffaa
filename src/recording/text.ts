import type { IBufferLine } from '@xterm/headless';
import { type Cues, withoutTimes } from './cue.js';
import { RecordedScreen } from './recorded-screen.js';

/** Lines that may leave the screen between two looks. */
const SCROLLBACK = 4096;

/**
 * What somebody could read who scrolls up in the terminal: text without colours, where carriage returns and cursor
 * movements have had their effect. Screens that were erased are included. Of full-screen programs there is only what
 * they show at the end, if they never leave.
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

/** Puts lines together that were broken only because the screen ended. */
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
