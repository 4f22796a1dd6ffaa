import { statfsSync, statSync } from 'node:fs';
import { childrenOf, linkTarget, namesIn, threadsOf } from '../kernel/index.js';
import { OVERLAY_MAGIC } from './support.js';

const BLOCK_BYTES = 512;

/**
 * The bytes on disk of held files that have no name any more but are still open in these processes or their descendants.
 * Where they are measured by name, they take up room that nobody sees.
 */
export function unlinkedBytes(initPids: readonly number[]): number {
  const counted = new Map<string, number>();
  for (const pid of initPids.flatMap(familyOf))
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      const link = `/proc/${pid}/fd/${fd}`;
      if (linkTarget(link).endsWith(' (deleted)')) count(link, counted);
    }
  return [...counted.values()].reduce((a, b) => a + b, 0);
}

function count(link: string, counted: Map<string, number>): void {
  try {
    const node = statSync(link);
    // Those of a private /tmp are in memory and end with their sandbox.
    if (!node.isFile() || node.nlink > 0 || statfsSync(link).type !== OVERLAY_MAGIC) return;
    counted.set(`${node.dev}:${node.ino}`, node.blocks * BLOCK_BYTES);
  } catch {
    // It was closed meanwhile.
  }
}

/** The first process of a sandbox has everything in it below it. */
function familyOf(pid: number): number[] {
  const found = [pid];
  for (const each of found) for (const thread of threadsOf(each)) found.push(...childrenOf(thread));
  return found;
}
