import { Command } from 'commander';
import { EXIT_CODE_HELP, exitCodeOfEnd } from '../exit-codes.js';
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
  const end = await withServer(flags, async (server) => {
    const { processId } = findKept(await server.kept(), id);
    return await server.waitFor(processId);
  });
  process.exit(exitCodeOfEnd(end));
}
