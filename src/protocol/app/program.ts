import { z } from 'zod';
import { Base64, OutputStream, Size } from './common.js';

/** What `command/exec` and `process/spawn` say in the same words about the program they run. */

export const ProgramArgv = z
  .array(z.string())
  .meta({ description: 'Program and arguments; no shell is involved.' });

export const OnTerminal = z
  .boolean()
  .default(false)
  .meta({ description: 'Run on a terminal; input and output are then streamed.' });

export const InitialSize = Size.nullish().meta({
  description: 'With `tty` only. Default: 24 rows, 80 columns.',
});

/** Fields of a write to its stdin. */
export const StdinPiece = {
  deltaBase64: Base64.nullish().meta({ description: 'The bytes. Empty is fine and does nothing.' }),
  closeStdin: z
    .boolean()
    .default(false)
    .meta({ description: 'End stdin behind the bytes. A terminal gets its end-of-file character.' }),
};

/** Fields of a notification that carries its output. */
export const OutputPiece = {
  stream: OutputStream,
  deltaBase64: Base64.meta({ description: 'The bytes, in order within a stream.' }),
  capReached: z.boolean().meta({ description: 'The cap is reached: nothing more of this stream follows.' }),
};
