import { Command } from 'commander';
import { complain, EXIT_CODE_HELP, exitCodeOfEnd, OUR_FAILURE } from '../exit-codes.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';
import { findKept } from './kept.js';
import { withServer } from './processes.js';

/** `execwire wait`: waits for the end of a kept process. */
export function waitCommand(): Command {
  return withTarget(new Command('wait'))
    .summary('wait for a kept process to end')
    .description(
      'Wait until a kept process has ended, and exit with its exit code. It may have ended already.',
    )
    .argument('<id>', 'the id that was printed, or its beginning')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(wait);
}

async function wait(id: string, flags: TargetFlags): Promise<void> {
  process.exit(await exitCode(id, flags));
}

/** Whatever goes wrong here must not look like the end of the program. */
async function exitCode(id: string, flags: TargetFlags): Promise<number> {
  try {
    const end = await withServer(flags, async (server) => {
      const { processId } = findKept(await server.kept(), id);
      return await server.waitFor(processId);
    });
    return exitCodeOfEnd(end);
  } catch (error) {
    complain(error);
    return OUR_FAILURE;
  }
}
