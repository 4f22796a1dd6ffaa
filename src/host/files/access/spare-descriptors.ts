import { closeSync, openSync } from 'node:fs';

/**
 * Throws when fewer descriptors than this can still be opened. For what ends the whole process when it cannot have them.
 * Nothing else of this thread comes between the check and what follows it; ask for some more than needed, since other
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
