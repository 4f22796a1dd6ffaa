import { type BigIntStats, chmodSync, closeSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import type { TimeSlice } from '../../kernel/index.js';
import { openDirectory } from '../accessible.js';
import { entryOf, pathOfDirectory } from '../byte-path.js';
import { nodeAt } from '../node.js';

/** Removes what is at a name in an open directory, and everything in it. Not an error if there is nothing. */
export async function removeTree(directory: number, name: string, slice: TimeSlice): Promise<void> {
  const path = entryOf(directory, name);
  const node = nodeAt(path);
  if (node === undefined) return;
  if (!node.isDirectory()) return unlinkSync(path);
  const inner = openDirectory(path);
  try {
    openUp(inner, node);
    for (const child of readdirSync(pathOfDirectory(inner), { encoding: 'buffer' })) {
      await removeTree(inner, child.toString('latin1'), slice);
      await slice.yieldIfOver();
    }
  } finally {
    closeSync(inner);
  }
  rmdirSync(path);
}

/** What we own we may remove, whatever its mode says. */
function openUp(directory: number, node: BigIntStats): void {
  const isOurs = node.uid === BigInt(process.geteuid?.() ?? 0);
  if (isOurs && (node.mode & 0o700n) !== 0o700n)
    chmodSync(`/proc/self/fd/${directory}`, (Number(node.mode) & 0o7777) | 0o700);
}
