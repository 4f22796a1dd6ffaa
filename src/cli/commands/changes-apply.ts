import { ExecError } from '../../protocol/errors.js';
import { resolvePath } from '../options/copy-location.js';
import type { TargetFlags } from '../options/target-options.js';
import { formatJson, printable } from '../terminal/table.js';
import type { ChangesCommandFlags } from './changes.js';
import { countText } from './changes-summary.js';
import { withChangeSet, withChangeSets } from './changes-target.js';

interface ApplyFlags extends ChangesCommandFlags {
  readonly skipConflicts?: boolean;
  readonly overwrite?: boolean;
  readonly keep?: boolean;
}

/** Applies changes. False if a conflict kept some or all of them from being applied. */
export async function applyHeld(id: string | undefined, flags: ApplyFlags): Promise<boolean> {
  const { skipConflicts = false, overwrite = false, keep = false, json = false } = flags;
  if (skipConflicts && overwrite)
    throw new ExecError('invalidConfiguration', 'Use --skip-conflicts or --overwrite, not both.');
  return await withChangeSet(id, flags, async (set, environment) => {
    const paths = await Promise.all(flags.path.map((path) => resolvePath(environment, path)));
    const result = await set.apply({
      ...(paths.length === 0 ? {} : { paths }),
      onConflict: overwrite ? 'overwrite' : skipConflicts ? 'skip' : 'refuse',
    });
    if (json) process.stdout.write(formatJson(result));
    else process.stdout.write(`${countText(result.applied)}\n`);
    const why = overwrite ? 'something else is mounted at or in' : 'somebody else has changed';
    for (const { path } of result.conflicts)
      process.stderr.write(`execwire: conflict: ${why} ${printable(path)}\n`);
    if (result.conflicts.length > 0 && !skipConflicts && !overwrite)
      process.stderr.write('execwire: Nothing was applied. Use --skip-conflicts or --overwrite.\n');
    if (!keep && result.conflicts.length === 0 && (await set.list({ limit: 1 })).changes.length === 0)
      await set.discard();
    return result.conflicts.length === 0;
  });
}

/** Forgets sets. */
export async function discardHeld(ids: readonly string[], flags: TargetFlags): Promise<void> {
  await withChangeSets(ids, flags, async (set) => {
    await set.discard();
    process.stdout.write(`discarded ${printable(set.changesId)}\n`);
  });
}
