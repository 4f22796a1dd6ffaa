import type { PermissionOptions } from '../contract/index.js';
import type { CopyJob } from './copy-job.js';
import type { FilePlace } from './file-place.js';

/** The permissions that are copied. Set-id and sticky bits never are. */
export const PERMISSION_BITS = 0o777;

/** Readable by everyone. */
const PUBLIC_BITS = 0o044;

/** Whether some users may not read it. */
export function isPrivate(mode: number | undefined): mode is number {
  return mode !== undefined && (mode & PUBLIC_BITS) !== PUBLIC_BITS;
}

/** The permissions to create a file with. */
export function permissionsOf(mode: number | undefined): PermissionOptions {
  return mode === undefined ? {} : { permissions: mode & PERMISSION_BITS };
}

/** Creates an empty file that only those can read who can read the original. */
export async function makePrivate(place: FilePlace, mode: number, job: CopyJob): Promise<void> {
  await place.files.writeFile(place.path, new Uint8Array(0));
  await job.protect(place.path, mode);
}
