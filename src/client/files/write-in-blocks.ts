import type { FileHandle } from '../../contract/index.js';

const BLOCK_BYTES = 1024 * 1024;
/** Blocks on their way at a time: enough to fill a far line, few enough to fit in memory. */
const BLOCKS_AHEAD = 24;

/** Writes a file from its beginning, several blocks at a time. */
export async function writeInBlocks(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let next = 0;
  const writeSome = async (): Promise<void> => {
    while (next < bytes.length) {
      const offset = next;
      next += BLOCK_BYTES;
      await handle.write(offset, bytes.subarray(offset, offset + BLOCK_BYTES));
    }
  };
  try {
    await Promise.all(Array.from({ length: BLOCKS_AHEAD }, writeSome));
  } finally {
    // After a failure the others have nothing more to begin.
    next = bytes.length;
  }
}
