import type { DirectoryEntry } from '../contract/index.js';
import { type FilePlace, withPathInError } from './file-place.js';

/** The machine of a place, without its path. */
export function placeOf({ files, machine }: FilePlace): Omit<FilePlace, 'path'> {
  return machine === undefined ? { files } : { files, machine };
}

/** The metadata a copy needs. Other servers list only names and kinds, so they are asked about each entry. */
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
