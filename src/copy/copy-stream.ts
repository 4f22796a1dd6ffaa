import { addAbortSignal, type Readable } from 'node:stream';
import {
  BLOCK_BYTES,
  type CopyJob,
  type FilePlace,
  makePrivate,
  type Original,
  withPathInError,
} from './copy-file.js';

/** Hands a file on, block by block, at the pace of whoever takes it. */
export async function copyToStream(
  from: FilePlace,
  { signal, write }: { signal: AbortSignal; write: (bytes: Uint8Array) => Promise<void> },
): Promise<void> {
  await using source = await withPathInError(from, from.files.open(from.path));
  for (let offset = 0; ; offset += BLOCK_BYTES) {
    signal.throwIfAborted();
    const { bytes, eof } = await withPathInError(from, source.read(offset, BLOCK_BYTES));
    await write(bytes);
    if (eof) return;
  }
}

/** Writes a stream into a file. One that was there keeps its permissions. */
export async function copyFromStream(input: Readable, to: Original, job: CopyJob): Promise<void> {
  await job.drafts.write(to, async (place) => {
    addAbortSignal(job.signal, input);
    if (to.mode !== undefined && place.path !== to.path)
      await withPathInError(to, makePrivate(place, to.mode, job));
    if (!job.blocks) return await writeWhole(place, input, job);
    await using destination = await withPathInError(to, place.files.open(place.path, { mode: 'replace' }));
    let offset = 0;
    for await (const chunk of input as AsyncIterable<Uint8Array>) {
      await withPathInError(to, destination.write(offset, chunk));
      offset += chunk.length;
      job.onBytes(chunk.length);
    }
  });
}

async function writeWhole(place: FilePlace, input: AsyncIterable<unknown>, job: CopyJob): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  await place.files.writeFile(place.path, content);
  job.onBytes(content.length);
}
