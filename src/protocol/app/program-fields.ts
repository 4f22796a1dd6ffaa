import { z } from 'zod';
import { Base64, OutputStream, Size } from './common.js';

/** What `command/exec` and `process/spawn` declare identically about the program they run. */

export const ProgramArgv = z
  .array(z.string())
  .meta({ description: 'Program and arguments; no shell is involved.' });

export const OnTerminal = z
  .boolean()
  .default(false)
  .meta({ description: 'Run on a terminal. Input and output are then streamed.' });

export const InitialSize = Size.nullish().meta({
  description: 'With `tty` only. Default: 24 rows, 80 columns.',
});

/** Fields of a write to its stdin. */
export const StdinPiece = {
  deltaBase64: Base64.nullish().meta({ description: 'The bytes. An empty value does nothing.' }),
  closeStdin: z
    .boolean()
    .default(false)
    .meta({ description: 'Close stdin after the bytes. On a terminal, sends the end-of-file character.' }),
};

/** Fields of a notification that carries its output. */
export const OutputPiece = {
  stream: OutputStream,
  deltaBase64: Base64.meta({ description: 'The bytes, in order within a stream.' }),
  capReached: z.boolean().meta({ description: 'The cap is reached: no more of this stream follows.' }),
};
