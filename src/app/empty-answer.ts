import { DeferredAnswer } from '../rpc/index.js';

/** For requests that have taken their place in the order and are answered, with nothing, when done. */
export function emptyAfter(done: Promise<void>): DeferredAnswer<Record<string, never>> {
  return new DeferredAnswer(done.then(() => ({})));
}
