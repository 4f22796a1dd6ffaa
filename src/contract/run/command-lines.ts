import { ExecError } from '../../protocol/errors.js';
import type { ExitedEvent } from '../process-event.js';
import { CapturedOutput } from './captured-output.js';
import { CommandFailure, succeeded } from './command-failure.js';
import { LineSplitter } from './line-splitter.js';
import { requireExit } from './run-command.js';
import type { LinesOptions } from './run-options.js';
import { type CommandHost, RunningCommand } from './running-command.js';

const DEFAULT_MAX_LINE_BYTES = 1024 * 1024;
/** How much of stderr the failure includes. */
const MAX_STDERR_BYTES = 64 * 1024;

/**
 * Yields a program's stdout line by line. The program waits while lines are not consumed, and is killed with everything
 * it started if the iteration ends early.
 */
export async function* commandLines(
  host: CommandHost,
  argv: readonly string[],
  options: LinesOptions = {},
): AsyncGenerator<string, void> {
  const startedAt = performance.now();
  const lines = new LineSplitter(options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES);
  const stderr = new CapturedOutput(MAX_STDERR_BYTES);
  let exit: ExitedEvent | undefined;
  await using command = await RunningCommand.start(host, argv, options);
  for await (const event of command.events()) {
    if (event.type === 'exited') exit = event;
    else if (event.type === 'gap') throw outputLost(event.lostBytes);
    else if (event.type !== 'output') continue;
    else if (event.stream === 'stderr') stderr.add(event.bytes);
    else yield* lines.push(event.bytes);
  }
  yield* lines.rest();
  const { exitCode, signal, timedOut, changesFull } = requireExit(exit);
  const { kept, truncatedBytes } = stderr.text;
  const result = {
    stdout: '',
    stderr: kept,
    exitCode,
    signal,
    timedOut,
    ...(changesFull ? { changesFull } : {}),
    durationMs: Math.round(performance.now() - startedAt),
    truncatedBytes: { stdout: 0, stderr: truncatedBytes },
    lostBytes: 0,
  };
  if ((options.throwOnFailure ?? true) && !succeeded(result)) throw new CommandFailure(argv[0] ?? '', result);
}

/** Lines with a gap in them would look complete. */
function outputLost(lostBytes: number): ExecError {
  return new ExecError(
    'outputLost',
    `${lostBytes} bytes of output were lost while the connection was down.`,
    {
      data: { lostBytes },
    },
  );
}
