import type { ExecProcess } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { complain } from '../exit-codes.js';
import type { LineEscape } from './line-escape.js';
import { ReadAhead } from './read-ahead.js';

/** What may be typed while a machine out of reach takes no input; beyond it, not even the way out is seen. */
const MAX_TYPED_AHEAD_BYTES = 64 * 1024;

/** Input that was read and not answered for yet. It fills a fast line to the other side of an ocean, and is half of what a process may have in line. */
const MAX_READ_AHEAD_BYTES = 8 * 1024 * 1024;

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
  const ahead = new ReadAhead(escape ? MAX_TYPED_AHEAD_BYTES : MAX_READ_AHEAD_BYTES);
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    const { pass, left } = escape?.take(chunk) ?? { pass: chunk, left: false };
    if (left) return leave();
    if (pass.length === 0) continue;
    ahead.add(pass.length, child.write(pass));
    if ((await ahead.room()) === 'stdinClosed') return;
  }
  await child.closeStdin();
}
