import type { ExecProcess } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { currentSize } from './raw-terminal.js';

/** Types to a process that others use, too: takes the keyboard from its holder and applies the size of our terminal. */
export function typeTo(child: ExecProcess): ExecProcess['write'] {
  let taking: Promise<void> | undefined;
  const take = async (): Promise<void> => {
    taking ??= takeKeyboard(child).finally(() => {
      taking = undefined;
    });
    await taking;
  };
  return async (data) => {
    // Keys pressed meanwhile follow the one that takes it.
    if (taking || child.keyboard?.holds === false) await take();
    return await child.write(data).catch(async (error: unknown) => {
      // Another client took it before we learned of that. The program got none of this.
      if (!isExecError(error, 'keyboardElsewhere')) throw error;
      await take();
      return await child.write(data);
    });
  };
}

async function takeKeyboard(child: ExecProcess): Promise<void> {
  await child.keyboard?.take();
  await child.resize(currentSize()).catch(() => undefined);
}
