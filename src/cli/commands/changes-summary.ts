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

/** Says on stderr what a program has changed, and how to see it. */
export async function summarizeChanges(
  environment: Environment,
  changesId: string,
  target: TargetFlags,
): Promise<void> {
  const { counts } = await environment.changes(changesId).list({ limit: 1 });
  process.stderr.write(
    `execwire: ${countText(counts)}: execwire changes diff ${targetWords(target)}${printable(changesId)}\n`,
  );
}
