import { chmodSync, closeSync, openSync } from 'node:fs';
import { ExecError, isExecError } from '../../../protocol/errors.js';
import { errnoOf, openBeneath, randomBytes, syncFileSystem } from '../../kernel/index.js';
import { withHandle } from '../accessible.js';
import { ancestorsOf, entryOf, nameOf, parentOf } from '../byte-path.js';
import { withClosedDirectories } from '../closed-directories.js';
import { isFull } from '../full-disk.js';
import type { HeldSet, ScannedRoot } from '../held-set.js';
import { closeLayers } from '../held-set.js';
import { nodeAt } from '../node.js';
import type { FoundChange } from '../scan.js';
import { commit, undo } from './commit.js';
import { conflictsIn } from './conflicts.js';
import { type Journal, readJournal, removeJournal, writeJournal } from './journal.js';
import { planApply, type RootChanges } from './plan.js';
import { select } from './selection.js';
import { stage } from './stage.js';

/** What to apply, and what to do about conflicts. */
export interface ApplyRequest {
  /** Relative paths by the number of their root; null: everything. */
  readonly paths: ReadonlyMap<number, readonly string[]> | null;
  /**
   * `refuse`: apply nothing if there is a conflict. `skip`: all but those. `overwrite`: those, too, except where something else is
   * mounted by now.
   */
  readonly onConflict: 'refuse' | 'skip' | 'overwrite';
}

/** A change and the root it is in. */
export interface PlacedChange {
  readonly root: ScannedRoot;
  readonly change: FoundChange;
}

export interface ApplyOutcome {
  readonly applied: readonly PlacedChange[];
  readonly conflicts: readonly PlacedChange[];
}

/**
 * Makes the files below like the held ones. Everything new is written beside its place first; from then on, whatever
 * happens, the rest is done: now, or by the next server. Only call it while nobody else changes the set.
 */
export async function applyChanges(set: HeldSet, request: ApplyRequest): Promise<ApplyOutcome> {
  await finishApply(set);
  const scanned = await set.scan();
  const roots = scanned.map((root) => open(set, root, request));
  try {
    const conflicts = allConflicts(set, roots, scanned);
    if (conflicts.length > 0 && request.onConflict === 'refuse') return { applied: [], conflicts };
    const skipped =
      request.onConflict === 'skip'
        ? conflicts
        : conflicts.filter(({ root, change }) => root.covered.has(change));
    const left = roots.map((root) => without(root, skipped));
    const places = left.map(({ layers, changes }) => ({
      layer: layers.upper,
      paths: changes.map(({ path }) => path),
    }));
    await withClosedDirectories(places, () => applyRoots(set, left));
    const applied = left.flatMap(({ root, changes }) => placed(scanned, root, changes));
    return { applied, conflicts: skipped };
  } finally {
    for (const { layers } of roots) closeLayers(layers);
  }
}

/** Finishes or undoes what an earlier server was doing when it ended. */
export async function finishApply(set: HeldSet): Promise<void> {
  const journal = readJournal(set.journal);
  if (journal === null) return;
  const opened = new Map<number, ReturnType<HeldSet['openLayers']>>();
  const bases = (root: number): number => {
    const layers = opened.get(root) ?? set.openLayers(root);
    opened.set(root, layers);
    return layers.base;
  };
  try {
    if (journal.phase === 'stage') await undo(journal, bases);
    else {
      await commit(journal, bases);
      noteApplied(set, journal, bases);
    }
    removeJournal(set.journal);
  } catch (error) {
    throw isExecError(error) ? error : unfinished(error);
  } finally {
    for (const layers of opened.values()) closeLayers(layers);
  }
}

async function applyRoots(set: HeldSet, roots: readonly RootChanges[]): Promise<void> {
  if (roots.every(({ changes }) => changes.length === 0)) return;
  const { journal, staged } = planApply(roots, randomBytes(4).toString('hex'));
  const bases = (number: number): number => {
    const found = roots.find(({ root }) => root === number);
    if (!found) throw new Error('there is no such root');
    return found.layers.base;
  };
  try {
    writeJournal(set.journal, journal);
    unlock(journal, bases);
    for (const root of roots) await stage(root, staged.get(root.root) ?? []);
    for (const { layers } of roots) await sync(layers.base);
    writeJournal(set.journal, { ...journal, phase: 'commit' });
  } catch (error) {
    await undo(journal, bases);
    removeJournal(set.journal);
    throw notApplied(error);
  }
  try {
    await commit(journal, bases);
  } catch (error) {
    throw unfinished(error);
  }
  noteApplied(set, journal, bases);
  removeJournal(set.journal);
}

/** The descriptor of a base is not open for reading, which syncing takes. */
async function sync(base: number): Promise<void> {
  const fd = openSync(`/proc/self/fd/${base}/.`, 'r');
  try {
    await syncFileSystem(fd);
  } finally {
    closeSync(fd);
  }
}

function open(
  set: HeldSet,
  { root, changes, unchangedLinks, covered }: ScannedRoot,
  { paths }: ApplyRequest,
): RootChanges {
  const chosen = select(changes, paths === null ? null : (paths.get(root) ?? []));
  return { root, layers: set.openLayers(root), changes: chosen, unchangedLinks, covered };
}

function allConflicts(
  set: HeldSet,
  roots: readonly RootChanges[],
  scanned: readonly ScannedRoot[],
): PlacedChange[] {
  return roots.flatMap((each) => placed(scanned, each.root, conflictsIn(each, set.bases)));
}

function placed(
  scanned: readonly ScannedRoot[],
  number: number,
  changes: readonly FoundChange[],
): PlacedChange[] {
  const root = scanned.find((each) => each.root === number);
  return root ? changes.map((change) => ({ root, change })) : [];
}

/** What lies in a directory that is not made is not made either. */
function without(root: RootChanges, conflicts: readonly PlacedChange[]): RootChanges {
  const own = conflicts.filter((each) => each.root.root === root.root);
  const skipped = new Set(own.map(({ change }) => change.path));
  const isSkipped = ({ path, held }: FoundChange): boolean =>
    skipped.has(path) || (held !== null && ancestorsOf(path).some((ancestor) => skipped.has(ancestor)));
  return { ...root, changes: root.changes.filter((change) => !isSkipped(change)) };
}

function unlock({ unlocked }: Journal, bases: (root: number) => number): void {
  for (const { root, path, mode } of unlocked) {
    const parent = openBeneath(bases(root), Buffer.from(parentOf(path), 'latin1'));
    try {
      withHandle(entryOf(parent, nameOf(path) || '.'), ({ own }) => chmodSync(own, mode | 0o700));
    } finally {
      closeSync(parent);
    }
  }
}

function noteApplied(set: HeldSet, { changed }: Journal, bases: (root: number) => number): void {
  for (const root of new Set(changed.map((each) => each.root))) {
    const paths = changed.filter((each) => each.root === root).map(({ path }) => path);
    set.bases.applied(
      root,
      paths.map((path) => ({ path, base: nodeBelow(bases(root), path) })),
    );
  }
}

function nodeBelow(base: number, path: string): FoundChange['base'] {
  let parent: number | undefined;
  try {
    parent = openBeneath(base, Buffer.from(parentOf(path), 'latin1'));
    return nodeAt(entryOf(parent, nameOf(path) || '.')) ?? null;
  } catch {
    return null;
  } finally {
    if (parent !== undefined) closeSync(parent);
  }
}

function notApplied(cause: unknown): ExecError {
  const reason = errnoOf(cause);
  const why = isFull(cause) ? 'The disk is full' : `The system reported ${reason}`;
  return new ExecError('ioFailed', `${why}; nothing was applied.`, { data: { reason }, cause });
}

function unfinished(cause: unknown): ExecError {
  const reason = errnoOf(cause);
  return new ExecError(
    'ioFailed',
    `The system reported ${reason} while changes were applied; apply again to finish, or let the next server do it.`,
    { data: { reason }, cause },
  );
}
