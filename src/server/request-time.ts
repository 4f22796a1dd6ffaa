import { execMethods } from '../protocol/index.js';
import { DeferredAnswer } from '../rpc/index.js';

/** Measures a request until its answer is known, if there is an observer. Unknown methods count as one method. */
export function timed(
  method: string,
  report: ((method: string, seconds: number) => void) | undefined,
  run: () => unknown,
): unknown {
  if (!report) return run();
  const name = Object.hasOwn(execMethods, method) ? method : 'unknown';
  const began = performance.now();
  const done = (): void => report(name, (performance.now() - began) / 1000);
  const answer = run();
  const later = answer instanceof DeferredAnswer ? answer.answer : answer;
  if (later instanceof Promise) later.then(done, done);
  else done();
  return answer;
}
