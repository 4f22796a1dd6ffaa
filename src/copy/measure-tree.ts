import type { FilePlace } from './file-place.js';
import { listing } from './listing.js';

/** The number and size of the files that a copy of a tree will make. Errors are ignored here; the copy reports them. */
export async function measureTree(
  { files, path }: FilePlace,
  signal: AbortSignal,
): Promise<{ files: number; bytes: number }> {
  const total = { files: 0, bytes: 0 };
  const directories = [path];
  for (let next = directories.pop(); next !== undefined && !signal.aborted; next = directories.pop()) {
    for (const entry of await listing({ files, path: next }).catch(() => [])) {
      if (entry.isDirectory && entry.isSymlink === false) directories.push(entry.path);
      if (!entry.isFile) continue;
      total.files += 1;
      total.bytes += entry.size ?? 0;
    }
  }
  return total;
}
