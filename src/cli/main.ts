import { CommanderError } from 'commander';
import { isExecError } from '../protocol/errors.js';
import { complain, FAILURE, USAGE_ERROR } from './exit-codes.js';
import { rewriteArguments } from './habits/rewrite-arguments.js';
import { createProgram } from './program.js';

async function main(): Promise<void> {
  const words = rewriteArguments(process.argv.slice(2));
  const program = await createProgram(words[0]);
  await program.parseAsync(words, { from: 'user' });
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
