import { basename } from 'node:path/posix';
import type { Environment } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { metadataOf } from './copy-draft.js';
import type { Destination, FilePlace } from './copy-file.js';
import { childPath } from './listing.js';

/** A path on a machine that is open. */
export interface OpenPlace extends FilePlace {
  readonly environment: Environment;
  /** Whether files can be renamed there: then each appears only when it is whole, and large ones go in blocks. */
  readonly renames: boolean;
  /** Whether a small file is whole there after one request that is worth saving others for: atomic, and far away. */
  readonly atOnce: boolean;
  /** Whether files are put in their place there in one flight, with their permissions; always so on this machine. */
  readonly places: boolean;
  /** Whether modification times and links can be told and taken there; always so on this machine. */
  readonly keeps: boolean;
  /** Whether nothing is there, where that was asked for before anything was known about the machine. See `hasNothing`. */
  readonly wasFree?: Promise<boolean> | undefined;
}

/** An existing directory takes the source in under its own name. */
export async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace & Destination> {
  // Other servers follow links when they look.
  const tellsLinks = to.atOnce || to.places;
  if (tellsLinks && (await to.wasFree)) return { ...to, isFree: true };
  const path = childPath(to.path, { name: basename(from.path), path: from.path });
  const [existing, isFree] = await Promise.all([
    metadataOf(to, { details: to.places }),
    tellsLinks && hasNothing(to),
  ]);
  if (!existing?.isDirectory) return { ...to, isFree, existing };
  // A link must not be followed. What else is wrong is said by whoever tries, and whether it is free is seen then.
  const within = await metadataOf({ ...to, path }, { details: to.places }).catch(() => undefined);
  return { ...to, path, isListed: true, existing: within };
}

/** True when there is nothing at a place, not even a link that leads nowhere. */
export async function hasNothing({ files, path }: FilePlace): Promise<boolean> {
  return await files.getMetadata(path, { followSymlinks: false }).then(
    () => false,
    (error: unknown) => isExecError(error, 'notFound'),
  );
}

/** True for a directory, or a link to one. */
export async function isDirectory(place: FilePlace): Promise<boolean> {
  return (await metadataOf(place, {}))?.isDirectory === true;
}
