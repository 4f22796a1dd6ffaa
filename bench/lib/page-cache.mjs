import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = Buffer.alloc(1 << 20, 'x');

/**
 * Fills this much of the page cache and frees it again, so that files written next use pages the machine has. A host may take
 * free memory back from a virtual machine within two seconds (free page reporting); the next use of such a page makes the host
 * supply it, which takes five to ten times as long as the write itself. That is a price of the machine, not of a subject, and
 * only subjects that write files would pay it.
 */
export function touchPageCache(scratch, byteCount) {
  const path = join(scratch, 'page-cache');
  const file = openSync(path, 'w');
  for (let written = 0; written < byteCount; written += BLOCK.length) writeSync(file, BLOCK);
  closeSync(file);
  rmSync(path);
}
