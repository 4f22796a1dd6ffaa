import type { FileHandle, FileSystem } from '../contract/index.js';
import { write } from './print-output.js';

/** What one message may carry. */
const BLOCK_BYTES = 1024 * 1024;
/** Blocks of one file on their way at a time: enough to hide the round trip, few enough to fit in memory. */
const BLOCKS_AHEAD = 4;

/** Told how many bytes have arrived. */
export type OnBytes = (bytes: number) => void;

/** A file on some machine. */
export interface FilePlace {
  readonly files: FileSystem;
  readonly path: string;
}

/** Copies the content of a file. A small one goes in one piece, a large one block by block. */
export async function copyFile(
  from: FilePlace & { readonly size: number },
  to: FilePlace,
  onBytes: OnBytes,
): Promise<void> {
  if (from.size <= BLOCK_BYTES) {
    const content = await from.files.readFile(from.path);
    await to.files.writeFile(to.path, content);
    onBytes(content.length);
    return;
  }
  await using source = await from.files.open(from.path);
  await using destination = await to.files.open(to.path, { mode: 'replace' });
  await copyBlocks(source, destination, onBytes);
}

/** Several blocks at a time, each from its place to the same place. */
async function copyBlocks(source: FileHandle, destination: FileHandle, onBytes: OnBytes): Promise<void> {
  let next = 0;
  let ended = false;
  const copySome = async (): Promise<void> => {
    while (!ended) {
      const offset = next;
      next += BLOCK_BYTES;
      const { bytes, eof } = await source.read(offset, BLOCK_BYTES);
      if (eof) ended = true;
      if (bytes.length > 0) await destination.write(offset, bytes);
      onBytes(bytes.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: BLOCKS_AHEAD }, copySome));
  } finally {
    ended = true;
  }
}

/** Writes a file to our stdout. */
export async function copyToStdout(from: FilePlace, onBytes: OnBytes): Promise<void> {
  process.stdout.on('error', () => undefined);
  await using source = await from.files.open(from.path);
  for (let offset = 0; ; offset += BLOCK_BYTES) {
    const { bytes, eof } = await source.read(offset, BLOCK_BYTES);
    await write(process.stdout, bytes);
    onBytes(bytes.length);
    if (eof) return;
  }
}

/** Writes what comes from our stdin into a file. */
export async function copyFromStdin(to: FilePlace, onBytes: OnBytes): Promise<void> {
  await using destination = await to.files.open(to.path, { mode: 'replace' });
  let offset = 0;
  for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
    await destination.write(offset, chunk);
    offset += chunk.length;
    onBytes(chunk.length);
  }
}
