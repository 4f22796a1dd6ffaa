import { ExecError } from '../../protocol/errors.js';
import type { ExitedEvent } from '../process-event.js';
import { CapturedOutput } from './captured-output.js';
import { CommandFailure, succeeded } from './command-failure.js';
import type { OutputEncoding, OutputOf, RunOptions, RunResult } from './run-options.js';
import { type CommandHost, RunningCommand } from './running-command.js';

/** Per stream. Enough for nearly every command, and small enough to keep for several at a time. */
export const DEFAULT_MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Runs a program to completion and returns its output and how it ended. */
export async function runCommand<Encoding extends OutputEncoding = 'utf8'>(
  host: CommandHost,
  argv: readonly string[],
  options: RunOptions<Encoding> = {},
): Promise<RunResult<Encoding>> {
  const startedAt = performance.now();
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const [stdout, stderr] = [new CapturedOutput(maxOutputBytes), new CapturedOutput(maxOutputBytes)];
  let exit: ExitedEvent | undefined;
  let lostBytes = 0;
  await using command = await RunningCommand.start(host, argv, options);
  for await (const event of command.events()) {
    if (event.type === 'output') (event.stream === 'stderr' ? stderr : stdout).add(event.bytes);
    else if (event.type === 'gap') lostBytes += event.lostBytes;
    else if (event.type === 'exited') exit = event;
  }
  const result = resultOf(requireExit(exit), { stdout, stderr, encoding: options.encoding });
  const whole = { ...result, durationMs: Math.round(performance.now() - startedAt), lostBytes };
  if (options.throwOnFailure && !succeeded(whole)) throw new CommandFailure(argv[0] ?? '', whole);
  return whole;
}

export function requireExit(exit: ExitedEvent | undefined): ExitedEvent {
  if (exit) return exit;
  throw new ExecError('contactLost', 'Contact with the process was lost: how it ended is unknown.');
}

function resultOf<Encoding extends OutputEncoding>(
  { exitCode, signal, timedOut, changesFull }: ExitedEvent,
  output: { stdout: CapturedOutput; stderr: CapturedOutput; encoding: Encoding | undefined },
): Omit<RunResult<Encoding>, 'durationMs' | 'lostBytes'> {
  const how = output.encoding === 'buffer' ? 'bytes' : 'text';
  const [stdout, stderr] = [output.stdout[how], output.stderr[how]];
  return {
    // The encoding determines `how`, which the compiler cannot follow.
    stdout: stdout.kept as OutputOf<Encoding>,
    stderr: stderr.kept as OutputOf<Encoding>,
    exitCode,
    signal,
    timedOut,
    ...(changesFull ? { changesFull } : {}),
    truncatedBytes: { stdout: stdout.truncatedBytes, stderr: stderr.truncatedBytes },
  };
}
