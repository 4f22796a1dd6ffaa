import type { FilePlace } from './copy-file.js';
import { listing } from './listing.js';

/** How many files a copy of a tree will make and what is in them. What cannot be looked at is for the copy to complain about. */
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
