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
