import { setFlagsFromString } from 'node:v8';

/** V8 up to this version (Node 22) is known to accept the flag; others might warn about it on stderr. */
const LAST_KNOWN_V8 = 12;

/**
 * Keeps V8's young generation at its current size. It would grow to 16 MB and more when many processes start at once,
 * and never shrink again: twice what a thousand idle processes need. A server's objects are short-lived and output
 * bytes live outside the heap, so collecting more often costs next to nothing.
 */
export function keepHeapSmall(): void {
  // V8 reads the flag each time it considers growing.
  if (Number.parseInt(process.versions.v8, 10) <= LAST_KNOWN_V8)
    setFlagsFromString('--semi-space-growth-factor=1');
}
