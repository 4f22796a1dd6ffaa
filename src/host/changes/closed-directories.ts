import { closeSync } from 'node:fs';
import { isScarcity, openBeneath } from '../kernel/index.js';
import { ancestorsOf } from './byte-path.js';
import { nodeOfDirectory } from './node.js';
import { gainAccess, isClosed, isOwn } from './opened-directories.js';

/** Does something with files of a layer, even if directories they are in keep us out. Paths are relative to `layer`. */
export async function withClosedDirectories<T>(
  places: readonly { readonly layer: number; readonly paths: readonly string[] }[],
  use: () => T | Promise<T>,
): Promise<T> {
  const restores: (() => void)[] = [];
  try {
    // Root is kept out of none.
    if (process.geteuid?.() !== 0)
      for (const { layer, paths } of places)
        for (const path of directoriesOf(paths)) restores.push(...openIfClosed(layer, path));
    return await use();
  } finally {
    for (const restore of restores.toReversed()) restore();
  }
}

/** Outer ones first. */
function directoriesOf(paths: readonly string[]): string[] {
  return [...new Set(['', ...paths.flatMap(ancestorsOf)])].toSorted((a, b) => a.length - b.length);
}

function openIfClosed(layer: number, path: string): (() => void)[] {
  const directory = openOrNone(layer, path);
  if (directory === null) return [];
  const node = nodeOfDirectory(directory);
  if (!isClosed(node) || !isOwn(node)) {
    closeSync(directory);
    return [];
  }
  const restore = gainAccess(directory, node);
  return [
    () => {
      restore();
      closeSync(directory);
    },
  ];
}

/** Null if the layer has none there. */
function openOrNone(layer: number, path: string): number | null {
  try {
    return openBeneath(layer, Buffer.from(path, 'latin1'));
  } catch (error) {
    if (isScarcity(error)) throw error;
    return null;
  }
}
