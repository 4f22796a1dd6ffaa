import { fillFrom } from './copy-blocks.js';
import { existingAt } from './copy-draft.js';
import { BLOCK_BYTES, type CopyJob } from './copy-job.js';
import { type Destination, type FilePlace, type Original, withPathInError } from './file-place.js';
import { isPrivate, makePrivate } from './permissions.js';
import { placeBlocks, placeNew, placeWhole } from './place-file.js';

/** Up to this size, a file that has grown since it was listed is not read again: many of them still fit in memory. */
const SMALL_BYTES = BLOCK_BYTES / 4;

/** Copies the content of a file: a small one in one piece, a large one block by block. */
export async function copyFile(
  from: Original & { readonly size: number },
  to: Destination,
  job: CopyJob,
): Promise<void> {
  if (job.placesFiles) return await placeFile(from, to, job);
  const isWhole = from.size <= BLOCK_BYTES || !job.writesBlocks;
  // An existing entry may be a link or a device, and a private file needs its permissions before its content.
  if (isWhole && job.writesAtomically && to.isFree && !isPrivate(from.mode)) {
    job.signal.throwIfAborted();
    return await copyWhole(from, to, { job, atomic: true });
  }
  await job.drafts.write(to, async (place) => {
    if (isPrivate(from.mode)) await withPathInError(to, makePrivate(place, from.mode, job));
    const into = { ...to, path: place.path };
    if (isWhole) await copyWhole(from, into, { job, atomic: false });
    else await copyInBlocks(from, into, job);
  });
}

async function copyWhole(
  from: FilePlace & { readonly size: number },
  to: FilePlace,
  { job, atomic }: { job: CopyJob; atomic: boolean },
): Promise<void> {
  await withContent(from, job, async (content) => {
    await withPathInError(to, to.files.writeFile(to.path, content, { atomic }));
    job.onBytes(content.length);
  });
}

/**
 * Reads a small file and passes its content to `use`. A listing may be wrong or a lie, so a file that turns out larger than
 * listed waits for the room it really needs and is read again.
 */
async function withContent(
  from: Original & { readonly size: number },
  job: CopyJob,
  use: (content: Uint8Array) => Promise<void>,
): Promise<void> {
  const found = await job.bytes.spend(from.size, async () => {
    job.signal.throwIfAborted();
    const content = await withPathInError(from, from.files.readFile(from.path));
    job.signal.throwIfAborted();
    if (content.length > Math.max(from.size, SMALL_BYTES)) return content.length;
    await use(content);
    return null;
  });
  if (found !== null) await withContent({ ...from, size: found }, job, use);
}

/** Sends all requests for a file at once. A small file at a free path needs only one. */
async function placeFile(
  from: Original & { readonly size: number },
  to: Destination,
  job: CopyJob,
): Promise<void> {
  if (from.size > BLOCK_BYTES || from.firstBlocks)
    return await placeBlocks(to, { from, fill: fillFrom(from, to, job), job });
  await withContent(from, job, async (content) => {
    if (to.isFree && (await placeNew(to, content, { from, job }))) return job.onBytes(content.length);
    // The attempt failed, so requests meant to follow this file may have overtaken it.
    if (to.isFree) job.persistence.disturb();
    // A device can be written, but not replaced.
    const existing = await existingAt({ ...to, isFree: false });
    if (existing && !existing.isFile) await withPathInError(to, to.files.writeFile(to.path, content));
    else await placeWhole({ ...to, existing }, content, { from, job });
    job.onBytes(content.length);
  });
}

async function copyInBlocks(
  from: Original & { readonly size: number },
  to: FilePlace,
  job: CopyJob,
): Promise<void> {
  await using destination = await withPathInError(to, to.files.open(to.path, { mode: 'replace' }));
  await (await fillFrom(from, to, job)(destination)).arrived;
}
