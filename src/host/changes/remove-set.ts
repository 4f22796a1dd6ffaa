import { closeSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf, TimeSlice } from '../kernel/index.js';
import { openDirectory } from './accessible.js';
import { removeTree } from './apply/remove-tree.js';
import { newSetId } from './set-id.js';

/** Begins the names of folders that are being removed. */
const REMOVED = '.removed-';

/** Removes a set. What is left of it, should we be killed meanwhile, is no set any more. */
export async function removeSet(directory: string): Promise<void> {
  const removed = join(dirname(directory), REMOVED + newSetId());
  renameSync(directory, removed);
  try {
    await removeFolder(removed);
  } catch (error) {
    // Another server that has begun meanwhile has removed the rest.
    if (errnoOf(error) === 'ENOENT') return;
    renameSync(removed, directory);
    throw error;
  }
}

/** Goes on with what killed servers were removing. */
export async function finishRemovals(parent: string): Promise<void> {
  for (const name of namesIn(parent))
    if (name.startsWith(REMOVED)) await removeFolder(join(parent, name)).catch(() => undefined);
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

async function removeFolder(path: string): Promise<void> {
  const parent = openDirectory(dirname(path));
  try {
    await removeTree(parent, basename(path), new TimeSlice());
  } finally {
    closeSync(parent);
  }
}
