import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(1 << 20, 'x');

/**
 * Fills this much of the page cache once and frees it again. The first use of a page in a virtual machine that was just
 * started makes the host supply it, which takes ten times as long as the write itself. Only subjects that write files
 * would pay for that.
 */
export function touchPageCache(scratch, byteCount) {
  const path = join(scratch, 'page-cache');
  const file = openSync(path, 'w');
  for (let written = 0; written < byteCount; written += BLOCK.length) writeSync(file, BLOCK);
  closeSync(file);
  rmSync(path);
}
