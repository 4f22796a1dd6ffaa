import { Command } from 'commander';
import type { CopyFlags } from './copy-between.js';
import { withTarget } from '../options/target-options.js';

/** `execwire cp`: files and directories between machines. */
export function cpCommand(): Command {
  return withTarget(new Command('cp'))
    .summary('copy files and directories between machines')
    .description(
      'Copy a file or a directory from one machine to another, or within one.\n\n' +
        'A place is PATH on this machine, ID:PATH, URL:/PATH, or :PATH for the environment of -e or the default. ' +
        '- stands for stdin or stdout. Directories are copied with everything below them; ' +
        'permissions, modification times and links are kept. ' +
        'A file appears when it is whole: a copy that fails or is interrupted leaves no part of one.',
    )
    .argument('<source>', 'what to copy')
    .argument('<destination>', 'where to; into it, if it is a directory')
    .option('-L, --dereference', 'copy the files that links lead to; links to directories are left out')
    .option('-q, --quiet', 'show no progress')
    .action(async (source: string, destination: string, flags: CopyFlags) => {
      const { copyBetween } = await import('./copy-between.js');
      const { interruptible } = await import('../terminal/interruption.js');
      await interruptible((signal) => copyBetween({ source, destination, flags, signal }));
    });
}
