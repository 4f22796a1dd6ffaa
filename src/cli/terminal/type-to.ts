import type { ExecProcess } from '../../contract/index.js';
import { currentSize } from './raw-terminal.js';

/** Types to a process that others use, too: takes the keyboard from whoever has it, and brings the size of our terminal. */
export function typeTo(child: ExecProcess): ExecProcess['write'] {
  return async (data) => {
    if (child.keyboard?.holds === false) {
      await child.keyboard.take();
      await child.resize(currentSize()).catch(() => undefined);
    }
    return await child.write(data);
  };
}
