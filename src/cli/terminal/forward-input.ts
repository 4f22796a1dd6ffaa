import type { ExecProcess } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { complain } from '../exit-codes.js';
import type { LineEscape } from './line-escape.js';

/** What may be typed while a machine out of reach takes no input; beyond it, not even the way out is seen. */
const MAX_TYPED_AHEAD_BYTES = 64 * 1024;

interface InputOptions {
  /** Watches what is typed for the way out. */
  readonly escape: LineEscape | undefined;
  readonly leave: () => void;
}

/** Passes our stdin on to a process, at its pace, and the end of it too. Stops when disposed of. */
export function forwardInput(child: ExecProcess, options: InputOptions): Disposable {
  const { stdin } = process;
  let stopped = false;
  forward(child, options).catch((error: unknown) => {
    // What became of the process is told by its output; here only its input ended.
    if (!stopped && isExecError(error, 'unsupported')) complain(error);
  });
  return {
    [Symbol.dispose]() {
      stopped = true;
      stdin.destroy();
    },
  };
}

async function forward(child: ExecProcess, { escape, leave }: InputOptions): Promise<void> {
  let typedAhead = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    const { pass, left } = escape?.take(chunk) ?? { pass: chunk, left: false };
    if (left) return leave();
    if (pass.length === 0) continue;
    const written = child.write(pass);
    if (escape && typedAhead + pass.length <= MAX_TYPED_AHEAD_BYTES) {
      typedAhead += pass.length;
      const taken = (): void => {
        typedAhead -= pass.length;
      };
      void written.then(taken, taken);
    } else if ((await written) === 'stdinClosed') return;
  }
  await child.closeStdin();
}
