import type { ChangeSet, ChangeSetInfo, Environment } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import { closeTarget, openTarget, type TargetFlags } from '../options/target-options.js';

/** Opens a machine for one command. */
export async function withEnvironment<T>(
  flags: TargetFlags,
  use: (environment: Environment) => Promise<T>,
): Promise<T> {
  const environment = await openTarget(flags);
  try {
    return await use(environment);
  } finally {
    await closeTarget(environment);
  }
}

/** The same for one set, which is named by its id, by the beginning of it, or not at all if it is the only one. */
export async function withChangeSet<T>(
  id: string | undefined,
  flags: TargetFlags,
  use: (set: ChangeSet, environment: Environment) => Promise<T>,
): Promise<T> {
  return await withEnvironment(flags, async (environment) => {
    const { changesId } = choose(await environment.changeSets(), id);
    return await use(environment.changes(changesId), environment);
  });
}

/** The same for several sets. If one of them is unknown, none is used. */
export async function withChangeSets(
  ids: readonly string[],
  flags: TargetFlags,
  use: (set: ChangeSet) => Promise<void>,
): Promise<void> {
  await withEnvironment(flags, async (environment) => {
    const sets = await environment.changeSets();
    const chosen = ids.length === 0 ? [choose(sets, undefined)] : ids.map((id) => choose(sets, id));
    for (const changesId of new Set(chosen.map((each) => each.changesId)))
      await use(environment.changes(changesId));
  });
}

function choose(sets: readonly ChangeSetInfo[], id: string | undefined): ChangeSetInfo {
  const exact = sets.find(({ changesId }) => changesId === id);
  const found = exact ? [exact] : sets.filter(({ changesId }) => changesId.startsWith(id ?? ''));
  const [only, another] = found;
  if (only && !another) return only;
  if (only)
    throw new ExecError(
      'invalidConfiguration',
      'There are several such sets; list them: execwire changes ls',
    );
  throw new ExecError(
    'changesNotFound',
    id === undefined
      ? 'No changes are held. Run a command with --hold first.'
      : `There are no held changes "${id.slice(0, 64)}". List them: execwire changes ls`,
  );
}
