import { Command } from 'commander';
import { collect } from '../options/option-values.js';
import { type TargetFlags, withTarget } from '../options/target-options.js';

/** What most of these commands take. */
export interface ChangesCommandFlags extends TargetFlags {
  readonly json?: boolean;
  readonly path: readonly string[];
}

/** `execwire changes`: what commands with `--hold` have changed. */
export function changesCommand(): Command {
  const changes = new Command('changes')
    .summary('list, show, apply or discard what commands with --hold have changed')
    .description(
      'The changes of a command run with --hold are kept in a set, and the files stay as they are until you apply it.\n\n' +
        'An ID may be shortened to its beginning, and left out if there is only one set.',
    );
  withTarget(changes.command('ls'))
    .description('list the sets, or what has changed in one of them')
    .argument('[id]', 'a set')
    .option('--glob <pattern>', 'only paths that match, such as *.ts or /srv/**/package.json')
    .option('--json', 'print JSON')
    .action(async (id, flags) => (await import('./changes-list.js')).listChanges(id, flags));
  withTarget(changes.command('diff'))
    .description('show what has changed, as a patch')
    .argument('[id]', 'a set')
    .option('--path <path>', 'only what is at or below this path; repeatable', collect, [])
    .option('--json', 'print JSON')
    .option('--no-pager', 'do not start a pager on a terminal')
    .action(async (id, flags) => (await import('./changes-diff.js')).showDiff(id, flags));
  withTarget(changes.command('apply'))
    .description('apply the held changes to the files, and remove the set once nothing is left in it')
    .argument('[id]', 'a set')
    .option('--path <path>', 'only what is at or below this path; repeatable', collect, [])
    .option('--skip-conflicts', 'leave files alone that somebody else has changed in the meantime')
    .option('--overwrite', 'replace them')
    .option('--keep', 'keep the set, so that commands can continue in it')
    .option('--json', 'print JSON')
    .action(async (id, flags) => {
      const { applyHeld } = await import('./changes-apply.js');
      if (!(await applyHeld(id, flags))) process.exitCode = 1;
    });
  withTarget(changes.command('discard'))
    .description('discard sets and everything in them')
    .argument('[id...]', 'sets')
    .action(async (ids, flags) => (await import('./changes-apply.js')).discardHeld(ids, flags));
  return changes;
}
