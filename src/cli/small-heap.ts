import { setFlagsFromString } from 'node:v8';

/** V8 up to this version (Node 22) is known to read the hint; another might complain about it on stderr. */
const LAST_KNOWN_V8 = 12;

/**
 * Keeps the part of the heap where new objects live as small as it is now. It would grow to 16 MB and more when many
 * processes are started at once and keep that for good, twice what a thousand idle processes need. What a server makes
 * is short-lived and the bytes of output lie outside, so collecting more often costs next to nothing.
 */
export function keepHeapSmall(): void {
  // Read each time V8 thinks of growing.
  if (Number.parseInt(process.versions.v8, 10) <= LAST_KNOWN_V8)
    setFlagsFromString('--semi-space-growth-factor=1');
}
