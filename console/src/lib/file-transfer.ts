import type { FileSystem } from '../../../src/contract/index.js';

const BLOCK_BYTES = 1024 * 1024;

/** The content of a file, block by block. */
export async function* contentOf(files: FileSystem, path: string): AsyncGenerator<Uint8Array, void> {
  const handle = await files.open(path);
  try {
    for (let offset = 0; ; ) {
      const { bytes, eof } = await handle.read(offset, BLOCK_BYTES);
      if (bytes.length > 0) yield bytes;
      offset += bytes.length;
      if (eof) return;
    }
  } finally {
    await handle.close();
  }
}

/** Writes a file beside its place and moves it there when it is complete. Tells what share of it has been written. */
export async function upload(
  files: FileSystem,
  path: string,
  content: Blob,
  progress: (share: number) => void,
): Promise<void> {
  const draft = `${path}.${crypto.randomUUID().slice(0, 8)}.part`;
  const handle = await files.open(draft, { mode: 'replace' });
  try {
    for (let offset = 0; offset < content.size; offset += BLOCK_BYTES) {
      progress(offset / content.size);
      const block = await content.slice(offset, offset + BLOCK_BYTES).arrayBuffer();
      await handle.write(offset, new Uint8Array(block));
    }
    await handle.closeAs(path);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await files.remove(draft).catch(() => undefined);
    throw error;
  }
}
