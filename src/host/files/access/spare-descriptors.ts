import { closeSync, openSync } from 'node:fs';

/**
 * Throws if fewer descriptors than this can still be opened. For code that would end the whole process without them.
 * Nothing else on this thread runs between the check and the code after it; ask for a few more than needed, since other
 * threads open files.
 */
export function requireSpareDescriptors(count: number): void {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync('/', 'r'));
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
