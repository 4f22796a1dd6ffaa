import { closeSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Node's crypto module, loaded on first use: loading it would take longer than many a short command runs. */
export function crypto(): typeof import('node:crypto') {
  return createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
}

/** Random bytes from the kernel, or from Node's crypto module if /dev/urandom cannot be read. */
export function randomBytes(count: number): Buffer {
  try {
    const source = openSync('/dev/urandom', 'r');
    try {
      const bytes = Buffer.alloc(count);
      if (readSync(source, bytes) === count) return bytes;
    } finally {
      closeSync(source);
    }
  } catch {
    // No such file, or no descriptor left; the fallback needs neither.
  }
  return crypto().randomBytes(count);
}
