import type { ExecProcess } from '../../contract/index.js';
import { currentSize } from './raw-terminal.js';

/** Types to a process that others use, too: takes the keyboard from whoever has it, and brings the size of our terminal. */
export function typeTo(child: ExecProcess): ExecProcess['write'] {
  let taking: Promise<void> | undefined;
  return async (data) => {
    // Keys pressed meanwhile follow the one that takes it.
    if (taking || child.keyboard?.holds === false) {
      taking ??= takeKeyboard(child).finally(() => {
        taking = undefined;
      });
      await taking;
    }
    return await child.write(data);
  };
}

async function takeKeyboard(child: ExecProcess): Promise<void> {
  await child.keyboard?.take();
  await child.resize(currentSize()).catch(() => undefined);
}
