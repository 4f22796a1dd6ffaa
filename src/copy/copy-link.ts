import type { LinkDetails } from '../contract/index.js';
import type { CopyJob } from './copy-job.js';
import { type Destination, withPathInError } from './file-place.js';
import { inOrder } from './place-file.js';

/** Copies a link. It replaces an existing file or link, but not a directory. */
export async function copyLink(link: LinkDetails, to: Destination, job: CopyJob): Promise<void> {
  job.signal.throwIfAborted();
  const { target, modifiedAtUs } = link;
  const make = async (): Promise<void> => {
    const made = to.files.createSymlink(to.path, target, { replace: true, modifiedAtUs });
    to.onSent?.();
    await made;
  };
  await withPathInError(to, inOrder(to, make, job));
}
