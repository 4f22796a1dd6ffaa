import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Without newlines: a terminal turns each into two bytes, and the count would no longer fit. */
const TEXT = Buffer.from('the quick brown fox jumps over the lazy dog; '.repeat(24_000)).subarray(0, 1 << 20);

/** A file of text that programs print on a terminal. */
export function textFile(scratch, byteCount) {
  const path = join(scratch, 'text');
  const file = openSync(path, 'w');
  for (let written = 0; written < byteCount; written += TEXT.length) {
    writeSync(file, TEXT, 0, Math.min(TEXT.length, byteCount - written));
  }
  closeSync(file);
  return path;
}
