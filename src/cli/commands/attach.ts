import { Command } from 'commander';
import { EXIT_CODE_HELP } from '../exit-codes.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** `execwire attach`: takes up a kept process again. */
export function attachCommand(): Command {
  return withTarget(new Command('attach'))
    .summary('reattach to a kept process')
    .description(
      'Reattach to a process that `run --detach` or `shell --keep` has started, with its stdin, stdout, stderr and exit code.\n\n' +
        'On a terminal, you see its screen as it is, and it gets the size of yours; type Enter, ~ and . to leave it running. ' +
        'Closing the terminal leaves it running, too. Ctrl-C is forwarded. If several are attached, whoever typed last has ' +
        'the keyboard, and the program the size of that terminal; Enter, ~ and k hand it to whoever has asked for it.',
    )
    .argument('<id>', 'the id that was printed, or its beginning')
    .option('--no-stdin', 'do not forward stdin')
    .addHelpText('after', EXIT_CODE_HELP)
    .action(attach);
}

async function attach(id: string, flags: TargetFlags & { readonly stdin: boolean }): Promise<void> {
  const { runAttached } = await import('./run-attached.js');
  const { keptWith } = await import('./attach-kept.js');
  const exitCode = await runAttached({
    target: flags,
    begin: (environment) => keptWith(environment, id),
    stdin: flags.stdin,
    escape: true,
    outlivesUs: true,
  });
  process.exit(exitCode);
}
