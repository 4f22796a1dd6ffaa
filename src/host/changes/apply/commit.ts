import { chmodSync, closeSync, renameSync } from 'node:fs';
import { errnoOf, openBeneath, TimeSlice } from '../../kernel/index.js';
import { withHandle } from '../accessible.js';
import { entryOf, nameOf, parentOf } from '../byte-path.js';
import { nodeAt } from '../node.js';
import { isOwn } from '../opened-directories.js';
import { inodeOf } from '../scan.js';
import { setAttributes, setTimesOf } from './attributes.js';
import type { Journal, Step } from './journal.js';
import { removeTree } from './remove-tree.js';

/** Opens the base directory of a root, by its number. */
export type Bases = (root: number) => number;

/** What is in the way of a new file while it takes its place. */
const OLD_SUFFIX = '.old';

/** What no longer exists, or is something else by now, cannot be changed any more. */
const GONE: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP'];

/**
 * Does all steps. Each can be done again, so that after a crash the next server simply repeats them. Returns the paths
 * that somebody else removed meanwhile.
 */
export async function commit({ steps, unlocked }: Journal, bases: Bases): Promise<Step[]> {
  const slice = new TimeSlice();
  const gone: Step[] = [];
  for (const step of steps) {
    if (!(await inParent(step, bases, (parent, name) => doStep(step, { parent, name, slice }))))
      gone.push(step);
    await slice.yieldIfOver();
  }
  const settled = new Set(steps.filter((step) => step.do === 'settle').map(keyOf));
  await lock(
    unlocked.filter((place) => !settled.has(keyOf(place))),
    bases,
  );
  return gone;
}

/** Removes everything that was written beside. Nothing else has happened yet. */
export async function undo({ steps, unlocked }: Journal, bases: Bases): Promise<void> {
  const slice = new TimeSlice();
  for (const step of steps)
    if (step.do === 'place')
      await inParent(step, bases, (parent) => removeTree(parent, step.temporary, slice));
  await lock(unlocked, bases);
}

async function lock(unlocked: Journal['unlocked'], bases: Bases): Promise<void> {
  for (const place of unlocked.toReversed())
    await inParent(place, bases, (parent, name) =>
      withHandle(entryOf(parent, name), ({ own, node }) => {
        if (node.isDirectory()) chmodSync(own, place.mode);
      }),
    );
}

function keyOf({ root, path }: { root: number; path: string }): string {
  return `${root}/${path}`;
}

/** False if it cannot be reached. The root itself is the name `.` in itself. */
async function inParent(
  { root, path }: { root: number; path: string },
  bases: Bases,
  use: (parent: number, name: string) => void | Promise<void>,
): Promise<boolean> {
  let parent: number | undefined;
  try {
    parent = openBeneath(bases(root), Buffer.from(parentOf(path), 'latin1'));
    await use(parent, nameOf(path) || '.');
    return true;
  } catch (error) {
    if (GONE.includes(errnoOf(error))) return false;
    throw error;
  } finally {
    if (parent !== undefined) closeSync(parent);
  }
}

async function doStep(
  step: Step,
  { parent, name, slice }: { parent: number; name: string; slice: TimeSlice },
): Promise<void> {
  const path = entryOf(parent, name);
  if (step.do === 'place') return await place(parent, { name, temporary: step.temporary, slice });
  if (step.do === 'delete') {
    const node = nodeAt(path);
    if (node && inodeOf(node) === step.inode) await removeTree(parent, name, slice);
  } else if (step.do === 'attributes') withHandle(path, (handle) => setAttributes(handle, step.attributes));
  else
    withHandle(path, ({ own, node }) => {
      // Nobody but its owner can put back what a directory was like, which may be one for everybody, such as /tmp.
      if (!node.isDirectory() || (process.geteuid?.() !== 0 && !isOwn(node))) return;
      chmodSync(own, step.mode);
      setTimesOf(own, step);
    });
}

/** A directory cannot be replaced by a rename, nor can one replace a file: what is there steps aside first. */
async function place(
  parent: number,
  { name, temporary, slice }: { name: string; temporary: string; slice: TimeSlice },
): Promise<void> {
  const [from, to, old] = [temporary, name, temporary + OLD_SUFFIX].map((each) => entryOf(parent, each)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const staged = nodeAt(from);
  if (staged !== undefined) {
    const present = nodeAt(to);
    if (present && (present.isDirectory() || staged.isDirectory())) renameSync(to, old);
    renameSync(from, to);
  }
  await removeTree(parent, temporary + OLD_SUFFIX, slice);
}
