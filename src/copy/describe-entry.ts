import type { DirectoryEntry } from '../contract/index.js';
import { type FilePlace, withPathInError } from './copy-file.js';

/** Where something is, and nothing about what is there. */
export function placeOf({ files, machine }: FilePlace): Omit<FilePlace, 'path'> {
  return machine === undefined ? { files } : { files, machine };
}

/** What is to be known about an entry. Servers of others list nothing but names and kinds, and are asked for each. */
export async function described(
  from: FilePlace,
  entry: DirectoryEntry,
): Promise<{
  isSymlink: boolean;
  size: number;
  mode: number | undefined;
  modifiedAtUs: number | undefined;
}> {
  const { isSymlink, size, mode, modifiedAtUs } = entry;
  if (size !== undefined && (isSymlink !== undefined || entry.isFile))
    return { isSymlink: isSymlink ?? false, size, mode, modifiedAtUs };
  const found = await withPathInError(from, from.files.getMetadata(from.path));
  return { isSymlink: found.isSymlink, size: found.size, mode, modifiedAtUs: found.modifiedAtMs * 1000 };
}
