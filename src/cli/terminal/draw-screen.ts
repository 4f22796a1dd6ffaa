import type { ExecProcess } from '../../contract/index.js';
import { write } from './print-output.js';
import { redrawByResizing, USUAL_MODES } from './raw-terminal.js';

/** Nothing left over from what was shown before: modes, colours, text. */
const WIPE = `${USUAL_MODES}\u001b[?6l\u001b[r\u001b[2J\u001b[H`;

/**
 * Shows the screen of a process in its current state on our terminal, which has told its size already. `shown`: called
 * with what our terminal is given.
 */
export async function drawScreen(child: ExecProcess, shown: (bytes: Uint8Array) => void): Promise<void> {
  const screen = await child.refresh?.();
  if (screen) {
    const bytes = Buffer.concat([Buffer.from(WIPE), screen.bytes]);
    shown(bytes);
    return await write(process.stdout, bytes);
  }
  await redrawByResizing(child);
}
