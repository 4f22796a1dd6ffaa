import { AnswerLater } from '../rpc/index.js';

/** For requests that have taken their place in the order and are answered, with nothing, when done. */
export function emptyAfter(done: Promise<void>): AnswerLater<Record<string, never>> {
  return new AnswerLater(done.then(() => ({})));
}
