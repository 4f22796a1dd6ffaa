import type { ExecProcess } from '../../contract/index.js';
import { write } from './print-output.js';
import { currentSize } from './raw-terminal.js';

/** Plain text, an empty main screen, and nothing left over from what was shown before. */
const WIPE = '\u001b[?1049l\u001b[r\u001b[m\u001b[2J\u001b[H';

/** Shows the screen of a process in its current state on our terminal, which has told its size already. */
export async function drawScreen(child: ExecProcess): Promise<void> {
  const screen = await child.refresh?.();
  if (screen) return await write(process.stdout, Buffer.concat([Buffer.from(WIPE), screen.bytes]));
  // It draws its screen itself when the size changes.
  const { rows, cols } = currentSize();
  await child.resize({ rows: Math.max(1, rows - 1), cols }).catch(() => undefined);
  await child.resize({ rows, cols }).catch(() => undefined);
}
