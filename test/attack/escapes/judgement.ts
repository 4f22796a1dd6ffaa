import { expect } from 'vitest';
import type { Outcome } from './drive.js';
import type { Escape, PolicyName } from './escape.js';

/** Whether an attempt must work for somebody whom nothing holds back. */
export function mustWork({ unconfined = 'works' }: Escape, { isRoot }: { isRoot: boolean }): boolean {
  return unconfined === 'works' || unconfined === (isRoot ? 'worksForRoot' : 'worksForPlainUser');
}

export const allows = ({ allowedUnder = [] }: Escape, policy: PolicyName): boolean =>
  allowedUnder.includes(policy);

/** Fails with what was tried and how it went. Goes on with the test. */
export function expectNone(outcomes: readonly Outcome[]): void {
  const told = outcomes.map(
    ({ escape, success, held }) => `${escape.name}: ${success ?? `held back (${held})`}`,
  );
  expect.soft(told, told.join('\n')).toEqual([]);
}
