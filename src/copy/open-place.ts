import { basename } from 'node:path/posix';
import type { Environment } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { metadataOf } from './copy-draft.js';
import type { Destination, FilePlace } from './file-place.js';
import { childPath } from './listing.js';

/** A path in an open environment. */
export interface OpenPlace extends FilePlace {
  readonly environment: Environment;
  /** Whether the machine can rename files: then a file appears only when complete, and a large one is written in blocks. */
  readonly renames: boolean;
  /** See `CopyJob`. */
  readonly writesAtomically: boolean;
  /** See `CopyJob`. Always true for this machine. */
  readonly placesFiles: boolean;
  /** Whether the machine can report and store modification times and links. Always true for this machine. */
  readonly keepsLinksAndTimes: boolean;
  /** The result of `hasNothing`, if it was requested before the machine's capabilities were known. */
  readonly wasFree?: Promise<boolean> | undefined;
}

/** Where the source goes: inside an existing directory, under its own name, or else to the path itself. */
export async function destination(from: OpenPlace, to: OpenPlace): Promise<OpenPlace & Destination> {
  // Other servers follow links when they look.
  const tellsLinks = to.writesAtomically || to.placesFiles;
  if (tellsLinks && (await to.wasFree)) return { ...to, isFree: true };
  const path = childPath(to.path, { name: basename(from.path), path: from.path });
  const [existing, isFree] = await Promise.all([
    metadataOf(to, { details: to.placesFiles }),
    tellsLinks && hasNothing(to),
  ]);
  if (!existing?.isDirectory) return { ...to, isFree, existing };
  // A link here must not be followed. Any other error shows up when the copy is written, as does whether the path is free.
  const within = await metadataOf({ ...to, path }, { details: to.placesFiles }).catch(() => undefined);
  return { ...to, path, isListed: true, existing: within };
}

/** True if nothing exists at a place, not even a dangling link. */
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
