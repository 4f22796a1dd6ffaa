import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CollectGarbage } from '../server/index.js';

/** Node's garbage collector, exposed on first use: that takes a moment, and most servers never need it. */
export function lazyCollector(): CollectGarbage {
  let collect: CollectGarbage | null | undefined;
  return (options) => {
    if (collect === undefined) collect = exposeCollector();
    collect?.(options);
  };
}

/**
 * Bytes that pass through leave buffers behind, which the engine notices after tens of megabytes and then looks for in the whole
 * heap: half of the time that forwarding takes. A minor collection takes a fraction of a millisecond.
 */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024;

/** Returns a function to call with the number of bytes that have passed. It collects their buffers now and then. */
export function collectPassedBytes(collect: CollectGarbage = lazyCollector()): (count: number) => void {
  let passed = 0;
  return (count) => {
    passed += count;
    if (passed < COLLECT_AFTER_BYTES) return;
    passed = 0;
    collect({ type: 'minor' });
  };
}

/** Only a flag exposes it. An engine without it is fine: nothing is collected early then. */
function exposeCollector(): CollectGarbage | null {
  try {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    return typeof found === 'function' ? (found as CollectGarbage) : null;
  } catch {
    return null;
  }
}
