import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CollectGarbage } from '../server/index.js';

/** Node's garbage collector, exposed when it is first needed: that takes a moment, and most servers never do. */
export function lazyCollector(): CollectGarbage {
  let collect: CollectGarbage | null | undefined;
  return (options) => {
    if (collect === undefined) collect = exposeCollector();
    collect?.(options);
  };
}

/** Node offers it by a flag alone. Whether the engine still has it is its own affair: then nothing is collected early. */
function exposeCollector(): CollectGarbage | null {
  try {
    setFlagsFromString('--expose-gc');
    const found: unknown = runInNewContext('gc');
    return typeof found === 'function' ? (found as CollectGarbage) : null;
  } catch {
    return null;
  }
}
