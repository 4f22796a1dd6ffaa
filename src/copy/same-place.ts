import type { Environment, FileMetadata, FileSystem } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';

/** A path in an open environment. */
interface Place {
  readonly environment: Environment;
  readonly files: FileSystem;
  readonly path: string;
}

/**
 * True if the destination is the source or lies below it, reached by another route: the copy would then truncate what it
 * reads, or never end. Two machines may share an identity by mistake, so the times must match too.
 */
export async function isSamePlace(from: Place, to: Place): Promise<boolean> {
  const [here, there] = await Promise.all([from.environment.info(), to.environment.info()]);
  if (here.providerId === undefined || here.providerId !== there.providerId) return false;
  const source = await from.files.canonicalize(from.path);
  const destination = await nearestExisting(to.files, to.path);
  if (destination !== source && !destination.startsWith(`${source.replace(/\/$/, '')}/`)) return false;
  const [seenHere, seenThere] = await Promise.all([from, to].map(({ files }) => files.getMetadata(source)));
  return seenHere !== undefined && seenThere !== undefined && haveSameTimes(seenHere, seenThere);
}

function haveSameTimes(one: FileMetadata, other: FileMetadata): boolean {
  return (
    one.size === other.size &&
    one.modifiedAtMs === other.modifiedAtMs &&
    one.createdAtMs === other.createdAtMs
  );
}

/** The canonical path, or that of the nearest existing parent directory. */
async function nearestExisting(files: FileSystem, path: string): Promise<string> {
  try {
    return await files.canonicalize(path);
  } catch (error) {
    const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
    if (!isExecError(error, 'notFound') || parent === path) throw error;
    return await nearestExisting(files, parent);
  }
}
