import { Command, CommanderError } from 'commander';
import { version } from '../host/index.js';
import { isExecError } from '../protocol/index.js';
import { appServerCommand } from './app-server.js';
import { conformanceCommand } from './conformance.js';
import { serveCommand } from './serve.js';

/** Exit codes as shells know them: 2 for a command line that makes no sense, 1 for everything that failed. */
const USAGE_ERROR = 2;
const FAILURE = 1;

async function main(): Promise<void> {
  const program = new Command('execwire')
    .description(
      'Run processes and touch files on some machine, with the same calls and guarantees everywhere.',
    )
    .version(version)
    .exitOverride()
    // What follows the name of a program belongs to it.
    .enablePositionalOptions()
    .showHelpAfterError('(run with --help for the whole story)')
    .addCommand(serveCommand())
    .addCommand(appServerCommand())
    .addCommand(conformanceCommand());
  for (const command of program.commands) command.exitOverride().copyInheritedSettings(program);
  await program.parseAsync();
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version are not errors; commander has already printed what there is to say.
    return error.exitCode === 0 ? 0 : USAGE_ERROR;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`execwire: ${message}\n`);
  return isExecError(error, 'invalidConfiguration') ? USAGE_ERROR : FAILURE;
}

main().catch((error: unknown) => {
  process.exitCode = exitCodeOf(error);
});
