import { CommanderError } from 'commander';
import { isExecError } from '../protocol/errors.js';
import { BROKEN_PIPE, complain, FAILURE, OUR_FAILURE, USAGE_ERROR } from './exit-codes.js';
import { requireReadableArguments } from './habits/readable-arguments.js';
import { rewriteArguments } from './habits/rewrite-arguments.js';
import { createProgram } from './program.js';
import { noteLostOutput } from './terminal/lost-output.js';

async function main(): Promise<void> {
  watchOutput();
  const words = rewriteArguments(process.argv.slice(2));
  requireReadableArguments(words);
  const program = await createProgram(words[0]);
  await program.parseAsync(words, { from: 'user' });
}

/** Servers continue without a reader, and handle errors of their output themselves. */
function watchOutput(): void {
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error) => {
    if (process.stdout.listenerCount('error') > 1) return;
    const why = noteLostOutput(error);
    if (why !== null) complain(new Error(why));
    // The command may still set its own.
    process.once('exit', () => {
      if (process.exitCode !== OUR_FAILURE) process.exitCode = why === null ? BROKEN_PIPE : FAILURE;
    });
  });
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version are not errors, and commander has already printed its message.
    return error.exitCode === 0 ? 0 : USAGE_ERROR;
  }
  complain(error);
  return isExecError(error, 'invalidConfiguration') ? USAGE_ERROR : FAILURE;
}

main().catch((error: unknown) => {
  process.exitCode = exitCodeOf(error);
});
