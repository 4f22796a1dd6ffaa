import type { LinkDetails } from '../contract/index.js';
import { type CopyJob, type Destination, withPathInError } from './copy-file.js';
import { inOrder } from './place-file.js';

/** Makes a link that says what another one says. A file or a link that is there gives way, a directory does not. */
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
