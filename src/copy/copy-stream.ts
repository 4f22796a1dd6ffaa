import { addAbortSignal, type Readable } from 'node:stream';
import type { FileHandle } from '../contract/index.js';
import { BLOCK_BYTES, type CopyJob } from './copy-job.js';
import { type FilePlace, type Original, withPathInError } from './file-place.js';
import { FIRST_BYTES, MOST_BYTES } from './line-budget.js';
import { makePrivate } from './permissions.js';
import { Persistence } from './persistence.js';
import { placeBlocks } from './place-file.js';

/** Blocks requested ahead: few at first, since most files are small, and one more for each that arrives. */
const FIRST_BLOCKS = FIRST_BYTES / BLOCK_BYTES;
const MOST_BLOCKS = MOST_BYTES / BLOCK_BYTES;

/** Passes a file to `write`, block by block, waiting for each. */
export async function copyToStream(
  from: FilePlace,
  { signal, write }: { signal: AbortSignal; write: (bytes: Uint8Array) => Promise<void> },
): Promise<void> {
  await using source = await withPathInError(from, from.files.open(from.path, { ahead: true }));
  const coming: Promise<{ bytes: Uint8Array; eof: boolean }>[] = [];
  let offset = 0;
  try {
    for (let ahead = FIRST_BLOCKS; ; ahead = Math.min(ahead + 1, MOST_BLOCKS)) {
      signal.throwIfAborted();
      for (; coming.length < ahead; offset += BLOCK_BYTES) {
        const block = withPathInError(from, source.read(offset, BLOCK_BYTES));
        // An error is reported when it is this block's turn.
        block.catch(() => undefined);
        coming.push(block);
      }
      const block = await coming.shift();
      if (block) await write(block.bytes);
      if (!block || block.eof) return;
    }
  } finally {
    await Promise.allSettled(coming);
  }
}

/** Writes a stream into a file. An existing file keeps its permissions. */
export async function copyFromStream(input: Readable, to: Original, job: CopyJob): Promise<void> {
  if (job.placesFiles) {
    addAbortSignal(job.signal, input);
    // A stream can be read only once, so nothing is retried.
    const once = { ...job, persistence: new Persistence({ setbacks: 0 }) };
    const fill = async (handle: FileHandle): Promise<{ arrived: Promise<void> }> => ({
      arrived: Promise.resolve(await writeStream(handle, input, job, to)),
    });
    return await placeBlocks(to, { from: { mode: to.mode }, fill, job: once });
  }
  await job.drafts.write(to, async (place) => {
    addAbortSignal(job.signal, input);
    if (to.mode !== undefined && place.path !== to.path)
      await withPathInError(to, makePrivate(place, to.mode, job));
    if (!job.writesBlocks) return await writeWhole(place, input, job);
    await using destination = await withPathInError(to, place.files.open(place.path, { mode: 'replace' }));
    await writeStream(destination, input, job, to);
  });
}

/** Writes chunks as they come, many in flight at once. */
async function writeStream(
  destination: FileHandle,
  input: AsyncIterable<unknown>,
  job: CopyJob,
  to: FilePlace,
): Promise<void> {
  let offset = 0;
  const failures: unknown[] = [];
  const underWay = new Set<Promise<void>>();
  const begin = async (at: number, chunk: Uint8Array, admitted: () => void): Promise<void> => {
    try {
      await job.bytes.spend(chunk.length, async () => {
        admitted();
        await withPathInError(to, destination.write(at, chunk));
      });
      job.onBytes(chunk.length);
    } catch (error) {
      failures.push(error);
    }
  };
  try {
    for await (const chunk of input as AsyncIterable<Uint8Array>) {
      await new Promise<void>((admitted) => {
        const written = begin(offset, chunk, admitted).then(() => void underWay.delete(written));
        underWay.add(written);
      });
      offset += chunk.length;
      if (failures.length > 0) break;
    }
  } finally {
    await Promise.all(underWay);
  }
  if (failures.length > 0) throw failures[0];
}

async function writeWhole(place: FilePlace, input: AsyncIterable<unknown>, job: CopyJob): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  await place.files.writeFile(place.path, content);
  job.onBytes(content.length);
}
