import { DeferredAnswer } from '../rpc/index.js';

/** An empty answer sent when `done` resolves. Later requests need not wait for it. */
export function emptyAfter(done: Promise<void>): DeferredAnswer<Record<string, never>> {
  return new DeferredAnswer(done.then(() => ({})));
}
