import { type Cues, withoutTimes } from './cue.js';
import { RecordedScreen } from './recorded-screen.js';

/** The screen at the end of a recording. Null for an empty recording. */
export async function finalScreen(
  cues: Cues,
  options: { readonly scrollback: number; readonly keepErased?: boolean },
): Promise<RecordedScreen | null> {
  let screen: RecordedScreen | null = null;
  for await (const cue of withoutTimes(cues)) {
    if (cue.type === 'start') screen = new RecordedScreen({ size: cue.size, ...options });
    else if (cue.type === 'resize') screen?.resize(cue.size);
    else if (cue.type === 'text') await screen?.draw(cue.text);
  }
  return screen;
}
