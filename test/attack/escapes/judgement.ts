import type { Outcome } from './drive.js';
import type { Escape, PolicyName } from './escape.js';

/** Whether an attempt must work for somebody whom nothing holds back. */
export function mustWork({ unconfined = 'works' }: Escape, { isRoot }: { isRoot: boolean }): boolean {
  return unconfined === 'works' || unconfined === (isRoot ? 'worksForRoot' : 'worksForPlainUser');
}

export const allows = ({ allowedUnder = [] }: Escape, policy: PolicyName): boolean =>
  allowedUnder.includes(policy);

/** Outcomes as a failed test shows them. */
export const told = (outcomes: readonly Outcome[]): string[] =>
  outcomes.map(({ escape, success, held }) => `${escape.name}: ${success ?? `held back (${held})`}`);
