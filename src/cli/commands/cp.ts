import { Command } from 'commander';
import type { CopyFlags } from './copy-between.js';
import { withTarget } from '../options/target-options.js';

/** `execwire cp`: files and directories between machines. */
export function cpCommand(): Command {
  return withTarget(new Command('cp'))
    .summary('copy files and directories between machines')
    .usage('[options] SOURCE... DESTINATION')
    .description(
      'Copy files and directories from one machine to another, or within one.\n\n' +
        'A place is PATH on this machine, ID:PATH, URL:PATH, or :PATH for the environment of -e or the default. On other machines, ' +
        'a relative path starts in the home directory, and wildcards work: box:logs/*.txt. ' +
        '- stands for stdin or stdout. Directories are copied with everything below them; ' +
        'permissions, modification times and links are kept. ' +
        'A file appears only once it is complete; a copy that fails or is interrupted leaves no partial file.',
    )
    .argument('<source>', 'what to copy')
    .argument(
      '<destination...>',
      'where to copy it, behind further sources if there are any: if that is a directory, copies go into it',
    )
    .option('-L, --dereference', 'copy the files that links point to; links to directories are left out')
    .option('-n, --no-clobber', 'do not overwrite existing files')
    .option('-v, --verbose', 'print the path of each file that was copied')
    .option('-q, --quiet', 'show no progress')
    .option('-r', 'the default: copy directories')
    .option('-a', 'the default: keep links, permissions and times')
    .option('-p', 'the default: keep permissions and times')
    .action(async (source: string, more: string[], flags: CopyFlags) => {
      const { copyBetween } = await import('./copy-between.js');
      const { interruptible } = await import('../terminal/interruption.js');
      await interruptible((signal) => copyBetween([source, ...more], { flags, signal }));
    });
}
