import { Command } from 'commander';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** `execwire doctor`: finds the layer that is slow or broken. */
export function doctorCommand(): Command {
  return withTarget(new Command('doctor'))
    .summary('measure each layer and name what is slow or broken')
    .description(
      'Measure each layer that running a command goes through, and name what is slow or broken.\n\n' +
        'Without -e: this machine, a server on it, and every configured environment. Fails if something is broken.',
    )
    .option('--json', 'print JSON')
    .action(async (flags: TargetFlags & { json?: boolean }) => {
      const { examine } = await import('./doctor-report.js');
      if (!(await examine(flags))) process.exitCode = 1;
    });
}
