import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A block of a file leaves a message and texts of a megabyte each behind. The engine counts those only by the hundred
 * megabytes, and then goes over everything it has; a look at what is new after this much takes some 0.3 ms and finds
 * nearly all of it.
 */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024;

/** What blocks and texts in use may add up to; beyond it some of them are no longer in use. */
const MAX_EXTERNAL_BYTES = 24 * 1024 * 1024;

/** What is new with options, whatever they say in older engines; everything without. */
type Collect = (options?: { type: 'minor' }) => void;

let collect: Collect | null | undefined;
let garbageBytes = 0;

/** Tells that about this many bytes of messages and texts have just become garbage. */
export function noteBulkGarbage(bytes: number): void {
  garbageBytes += bytes;
  if (garbageBytes < COLLECT_AFTER_BYTES) return;
  garbageBytes = 0;
  collect ??= exposedCollector();
  collect?.({ type: 'minor' });
  // Texts that were in use during two such looks count as old and are left out by further ones.
  if (process.memoryUsage().external > MAX_EXTERNAL_BYTES) collect?.();
}

/** Node offers it by a flag alone. Whether the engine still has it is its own affair: then nothing is collected early. */
function exposedCollector(): Collect | null {
  try {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    return typeof found === 'function' ? (found as Collect) : null;
  } catch {
    return null;
  }
}
