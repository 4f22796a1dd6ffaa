import { closeSync } from 'node:fs';
import { TimeSlice } from '../kernel/index.js';
import { openDirectory, withAccess } from './accessible.js';
import { entryOf } from './byte-path.js';
import { nodeAt } from './node.js';
import { namesIn } from './scan.js';

/** How much room held changes take. */
export interface Usage {
  readonly bytes: number;
  readonly files: number;
}

const BYTES_PER_SECTOR = 512;

/** Counts everything below a directory. */
export async function usageOf(directory: number): Promise<Usage> {
  const total = { bytes: 0, files: 0 };
  await count(directory, total, new TimeSlice());
  return total;
}

async function count(
  directory: number,
  total: { bytes: number; files: number },
  slice: TimeSlice,
): Promise<void> {
  for (const name of namesIn(directory)) {
    const entry = entryOf(directory, name);
    const node = nodeAt(entry);
    if (node === undefined) continue;
    total.files += 1;
    total.bytes += Number(node.blocks) * BYTES_PER_SECTOR;
    if (node.isDirectory()) await countIn(entry, node, total, slice);
    await slice.yieldIfOver();
  }
}

async function countIn(
  entry: Buffer,
  node: NonNullable<ReturnType<typeof nodeAt>>,
  total: { bytes: number; files: number },
  slice: TimeSlice,
): Promise<void> {
  let inner: number;
  try {
    inner = openDirectory(entry);
  } catch {
    // A program removed it meanwhile.
    return;
  }
  try {
    await withAccess(inner, node, () => count(inner, total, slice));
  } finally {
    closeSync(inner);
  }
}
