import type { Terminal } from '@xterm/xterm';
import type { ExecProcess, TerminalScreen } from '../../../src/contract/index.js';

/** Bytes given to the terminal that it has not parsed yet. Beyond that we stop reading, and the server stops sending. */
const MAX_UNPARSED_BYTES = 512 * 1024;

/** A flood is shown so often. To read it faster than anybody could would only take time from the program. */
const FLOOD_FRAME_MS = 100;

/**
 * Shows what a process prints. A page that cannot keep up is not sent everything: it gets the screen as it is then, so a
 * flood costs a fixed amount of memory. Resolves when the process has closed.
 */
export async function feed(terminal: Terminal, child: ExecProcess, isOver: () => boolean): Promise<void> {
  let shownSeq = child.screen?.afterSeq ?? 0;
  let unparsed = 0;
  let parsed: (() => void) | undefined;
  const write = async (bytes: Uint8Array): Promise<void> => {
    unparsed += bytes.length;
    terminal.write(bytes, () => {
      unparsed -= bytes.length;
      parsed?.();
    });
    if (unparsed > MAX_UNPARSED_BYTES)
      await new Promise<void>((resolve) => {
        parsed = resolve;
      });
  };
  if (child.screen) showScreen(terminal, child.screen);
  for await (const event of child.events({ afterSeq: shownSeq })) {
    if (isOver()) return;
    if (event.type === 'output' && event.seq > shownSeq) await write(event.bytes);
    else if (event.type === 'gap' && event.beforeSeq > shownSeq + 1) {
      await new Promise((resolve) => setTimeout(resolve, FLOOD_FRAME_MS));
      const fresh = await child.refresh?.();
      if (isOver()) return;
      if (!fresh) continue;
      showScreen(terminal, fresh);
      shownSeq = fresh.afterSeq;
    }
  }
}

function showScreen(terminal: Terminal, { bytes, size }: TerminalScreen): void {
  terminal.reset();
  terminal.resize(size.cols, size.rows);
  terminal.write(bytes);
}
