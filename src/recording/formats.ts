import { asciicast } from './asciicast.js';
import type { Cues } from './cue.js';
import { htmlPage } from './html.js';
import { svgAnimation } from './svg-animated.js';
import { svgPicture } from './svg.js';
import { plainText } from './text.js';

/**
 * What a recording can be turned into. `asciicast` is version 2, which every player reads; version 3, which adds the
 * exit code, only the newest do.
 */
const formats = {
  asciicast: (cues: Cues) => asciicast(cues, 2),
  'asciicast-v3': (cues: Cues) => asciicast(cues, 3),
  text: plainText,
  html: htmlPage,
  svg: svgPicture,
  'svg-animated': svgAnimation,
} as const;

export type RecordingFormat = keyof typeof formats;

/** A recording in a format, piece by piece. Memory does not depend on its length. */
export function render(cues: Cues, format: RecordingFormat): AsyncGenerator<string, void> {
  return formats[format](cues);
}
