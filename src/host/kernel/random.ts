import { closeSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Node's cryptography, loaded when it is first needed: a short command would spend more time on that than on itself. */
export function crypto(): typeof import('node:crypto') {
  return createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto');
}

/** Random bytes from the kernel; through Node's cryptography where there is no such file. */
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
    // No descriptor left, or no such file: the other way needs neither.
  }
  return crypto().randomBytes(count);
}
