import type { ExecProcess } from '../../contract/index.js';
import { isExecError } from '../../protocol/errors.js';
import { complain } from '../exit-codes.js';
import type { LineEscape } from './line-escape.js';
import { ReadAhead } from './read-ahead.js';

/** How much may be typed while the machine is out of reach. Beyond this we stop reading, even for the escape. */
const MAX_TYPED_AHEAD_BYTES = 64 * 1024;

/** Input that was read and not answered for yet. It fills a fast line to the other side of an ocean, and is half of what a process may have in line. */
const MAX_READ_AHEAD_BYTES = 8 * 1024 * 1024;

interface InputOptions {
  /** How to type to the process. Default: write to it. */
  readonly write?: ExecProcess['write'] | undefined;
  /** Looks for the escape sequence in what is typed. */
  readonly escape: LineEscape | undefined;
  /** Takes away what answers a question of ours. */
  readonly take?: ((input: Uint8Array) => Uint8Array) | undefined;
  readonly leave: () => void;
  /** Hands the keyboard over. */
  readonly give?: (() => Promise<void>) | undefined;
  /** The end of our stdin means that we are gone, not that there is no more input. */
  readonly leaveAtEnd?: boolean;
}

/** Forwards our stdin and its end to a process, at the process's pace, until disposed. */
export function forwardInput(child: ExecProcess, options: InputOptions): Disposable {
  const { stdin } = process;
  let stopped = false;
  const failed = (error: unknown): void => {
    // The output side reports how the process ended; only the input failed here.
    if (stopped || !(isExecError(error, 'unsupported') || isUnanswered(error))) return;
    stopped = true;
    complain(error);
    if (isUnanswered(error)) options.leave();
  };
  forward(child, { ...options, failed }).catch(failed);
  return {
    [Symbol.dispose]() {
      stopped = true;
      stdin.destroy();
    },
  };
}

async function forward(
  child: ExecProcess,
  {
    escape,
    take = (input) => input,
    leave,
    give,
    leaveAtEnd = false,
    write = (data) => child.write(data),
    failed,
  }: InputOptions & { failed: (error: unknown) => void },
): Promise<void> {
  const ahead = new ReadAhead(escape ? MAX_TYPED_AHEAD_BYTES : MAX_READ_AHEAD_BYTES);
  for await (const typed of process.stdin as AsyncIterable<Uint8Array>) {
    const chunk = take(typed);
    for (const { pass, command } of escape?.parts(chunk) ?? [{ pass: chunk, command: undefined }]) {
      if (pass.length > 0) {
        const written = write(pass);
        // A person who types sees what arrived. Other input must have no gap in the middle.
        if (!escape) written.catch(failed);
        ahead.add(pass.length, escape ? written.catch(acceptUnanswered) : written);
      }
      if (command === 'leave') return leave();
      // If nobody wants it any more, it stays here.
      if (command === 'give') await give?.().catch(() => undefined);
      if ((await ahead.room()) === 'stdinClosed') return;
    }
  }
  if (leaveAtEnd) leave();
  else await child.closeStdin();
}

/** The process continues, and nobody knows whether it got this input. */
function isUnanswered(error: unknown): boolean {
  return isExecError(error, 'contactLost') && error.data.unanswered === true;
}

function acceptUnanswered(error: unknown): 'accepted' {
  if (!isUnanswered(error)) throw error;
  return 'accepted';
}
