import { LargeAnswer, ownTurn } from '../../rpc/index.js';

/** Takes less than a millisecond to read and encode. */
const SHORT_BYTES = 64 * 1024;

/**
 * An answer with output, `bytes` of it. A long one is made in a turn of the event loop of its own, because many clients may ask
 * for one at the same time.
 */
export function outputAnswer<Value>(
  make: () => Value,
  { bytes, due }: { readonly bytes: () => number; readonly due?: Promise<unknown> | undefined },
): LargeAnswer<Value> {
  const makeInTurn = (): Value | Promise<Value> => (bytes() > SHORT_BYTES ? ownTurn().then(make) : make());
  return new LargeAnswer(makeInTurn, { due });
}
