import type { ChangeCounts, Environment } from '../../contract/index.js';
import { type TargetFlags, targetWords } from '../options/target-options.js';
import { printable } from '../terminal/table.js';

/** `12 created, 3 modified, 1 deleted`. */
export function countText({ created, modified, deleted }: ChangeCounts): string {
  const parts = [
    created > 0 ? `${created} created` : '',
    modified > 0 ? `${modified} modified` : '',
    deleted > 0 ? `${deleted} deleted` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'nothing changed' : parts.join(', ');
}

/**
 * Says on stderr what programs have changed in a set, and how to see it. `isNew`: nobody has named the set; it goes if nothing
 * is in it.
 */
export async function summarizeChanges(
  environment: Environment,
  { changesId, isNew, target }: { changesId: string; isNew: boolean; target: TargetFlags },
): Promise<void> {
  const set = environment.changes(changesId);
  const { counts, changes } = await set.list({ limit: 1 });
  const how = `execwire changes diff ${targetWords(target)}${printable(changesId)}`;
  process.stderr.write(`execwire: ${countText(counts)}${changes.length === 0 ? '' : `: ${how}`}\n`);
  // Others may have joined.
  if (isNew && changes.length === 0) await set.discard().catch(() => undefined);
}
