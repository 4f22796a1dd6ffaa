import { asciicast } from './asciicast.js';
import type { Cues } from './cue.js';
import { htmlPage } from './html.js';
import { svgAnimation } from './svg-animated.js';
import { svgPicture } from './svg.js';
import { plainText } from './text.js';

/**
 * The formats of a recording. `asciicast` is version 2, which every player reads. Version 3 adds the exit code, but only
 * recent players read it.
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

/** Renders a recording piece by piece. The memory used does not depend on its length. */
export function render(cues: Cues, format: RecordingFormat): AsyncGenerator<string, void> {
  return formats[format](cues);
}
