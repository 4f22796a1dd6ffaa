/* oxlint-disable no-control-regex -- control characters are what this file is about */
import type { ExecProcess, SignalName, WriteStatus } from '../../contract/index.js';

const END_OF_FILE = '\u0004';

/** Keys that a terminal turns into signals. On pipes we do it ourselves. */
const SIGNAL_KEYS: Readonly<Record<string, SignalName>> = {
  '\u0003': 'SIGINT',
  '\u001c': 'SIGQUIT',
};

/**
 * Sends keystrokes to a process. A terminal interprets control characters itself. On pipes, Ctrl-C and Ctrl-\ become
 * signals to the process group, in order with the text around them, and a Ctrl-D at the end closes stdin.
 */
export async function typeKeys(process: ExecProcess, chars: string): Promise<WriteStatus> {
  if (process.tty) return await process.write(chars);
  for (const part of chars.split(/([\u0003\u001c]|\u0004$)/)) {
    const signal = SIGNAL_KEYS[part];
    if (signal) await process.signal(signal);
    else if (part === END_OF_FILE) await process.closeStdin();
    else if (part !== '') {
      const status = await process.write(part);
      if (status !== 'accepted') return status;
    }
  }
  return 'accepted';
}

/** Sends Ctrl-C without waiting: the process may not be reading, or may be gone. */
export function interrupt(process: ExecProcess): void {
  typeKeys(process, '\u0003').catch(() => undefined);
}
