import {
  CHANGE_LETTERS,
  type ChangeSet,
  type ChangeSetInfo,
  type Environment,
  type HeldChange,
} from '../../contract/index.js';
import { ExecError, isExecError } from '../../protocol/errors.js';
import { formatJson, formatTable, printable } from '../terminal/table.js';
import { paint } from '../terminal/paint.js';
import { countText } from './changes-summary.js';
import { withChangeSet, withEnvironment } from './changes-target.js';
import type { ChangesCommandFlags } from './changes.js';

interface ListFlags extends ChangesCommandFlags {
  readonly glob?: string;
}

/** Prints the sets, or what has changed in one. */
export async function listChanges(id: string | undefined, flags: ListFlags): Promise<void> {
  if (id === undefined && flags.glob !== undefined)
    throw new ExecError('invalidConfiguration', '--glob needs the ID of a set.');
  if (id === undefined) return await withEnvironment(flags, (environment) => listSets(environment, flags));
  await withChangeSet(id, flags, async (set) => await listSet(set, flags));
}

async function listSets(environment: Environment, { json = false }: ListFlags): Promise<void> {
  const sets = await environment.changeSets();
  if (json) return void process.stdout.write(formatJson(sets));
  const rows = await Promise.all(sets.map(async (set) => await rowOf(environment, set)));
  process.stdout.write(formatTable(['ID', 'SINCE', 'RUNNING', 'CHANGES', 'DIRECTORIES'], rows));
}

async function rowOf(environment: Environment, set: ChangeSetInfo): Promise<string[]> {
  const since = new Date(set.createdAtMs).toISOString().slice(0, 16).replace('T', ' ');
  return [set.changesId, since, String(set.running), await contentOf(environment, set), set.roots.join(' ')];
}

/** A set that cannot be looked at can still be discarded, if one knows its id. */
async function contentOf(environment: Environment, { changesId }: ChangeSetInfo): Promise<string> {
  try {
    const { counts } = await environment.changes(changesId).list({ limit: 1 });
    return countText(counts);
  } catch (error) {
    if (!isExecError(error)) throw error;
    return error.message;
  }
}

const COLOURS = { A: 'green', D: 'red' } as const;

async function listSet(set: ChangeSet, { json = false, glob }: ListFlags): Promise<void> {
  const all: HeldChange[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await set.list({ cursor, ...(glob === undefined ? {} : { glob }) });
    all.push(...page.changes);
    if (!json) for (const change of page.changes) process.stdout.write(lineOf(change));
    cursor = page.cursor;
    if (cursor === null) break;
  }
  if (json) process.stdout.write(formatJson(all));
}

function lineOf({ kind, path, type, conflict }: HeldChange): string {
  const letter = CHANGE_LETTERS[kind];
  const text = `${letter} ${printable(path)}${type === 'directory' ? '/' : ''}`;
  const mark = conflict ? paint('  (changed by somebody else, too)', 'yellow') : '';
  return `${letter === 'A' || letter === 'D' ? paint(text, COLOURS[letter]) : text}${mark}\n`;
}
