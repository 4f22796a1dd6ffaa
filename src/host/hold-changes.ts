import { ExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';
import type { HeldUse, OwnedChanges } from './changes/index.js';
import { noChanges } from './files/index.js';
import type { LocalProcessSpec } from './local-process-spec.js';

/** The files a program sees whose policy holds changes; null for all others. */
export async function holdChanges(
  changes: OwnedChanges | undefined,
  sandbox: Sandbox,
  { spec, managed }: { spec: LocalProcessSpec; managed: boolean },
): Promise<HeldUse | null> {
  if (!sandbox.changes) return null;
  if (changes === undefined) throw noChanges();
  const support = await changes.support();
  // Each is in a user namespace of its own, and a program can be in one only.
  if (managed && support.available && support.rights !== null) throw notTogether();
  const temporary = spec.askedTemporary === undefined ? spec.env.TMPDIR : (spec.askedTemporary ?? undefined);
  const use = await changes.use(sandbox, { cwd: spec.cwd, temporary });
  try {
    await use.requireRoom();
    return use;
  } catch (error) {
    use.close();
    throw error;
  }
}

/** For file operations, which belong to no program: they must name the set. */
export async function holdFiles(changes: OwnedChanges, sandbox: Sandbox): Promise<HeldUse> {
  if (sandbox.changesId === undefined)
    throw new ExecError(
      'invalidParams',
      'A file operation under a policy that holds changes needs `changesId`.',
    );
  return await changes.use(sandbox, { cwd: '/', temporary: process.env.TMPDIR, isBrief: true });
}

function notTogether(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'Only root can hold the changes of a program whose network has rules for hosts.',
    {
      data: {
        reason: 'changesWithRules',
        hint: 'Allow the whole network or none of it, or do not hold changes.',
      },
    },
  );
}
