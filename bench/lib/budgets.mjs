import { readFileSync } from 'node:fs';
import { rounded } from './stats.mjs';

const budgets = JSON.parse(readFileSync(new URL('../budgets.json', import.meta.url), 'utf8'));

/**
 * Holds what was measured against every budget whose case was run. `room` widens each limit by a factor; budgets of
 * cases in `left` were not asked for and are listed as such.
 */
export function checkBudgets({ cases }, { room = 1, left = [] } = {}) {
  return budgets.flatMap((budget) => {
    const result = cases.find(({ name }) => name === budget.case);
    if (result) return [judge(withRoom(budget, room), result)];
    return left.includes(budget.case) ? [{ ...budget, verdict: 'left out', ratio: null, reached: null }] : [];
  });
}

function withRoom(budget, room) {
  return {
    ...budget,
    limit: rounded(budget.comparison === 'below' ? budget.limit * room : budget.limit / room),
  };
}

function judge(budget, { rows }) {
  const valueOf = (name) => rows.find(({ subject }) => subject === name)?.values[budget.metric];
  const measured = { value: valueOf(budget.subject), reference: valueOf(budget.against) };
  // Codex or a compiler may be missing here: then there is nothing to compare with.
  if (measured.value === undefined || measured.reference === undefined) {
    return { ...budget, verdict: 'not measured', ratio: null, reached: null };
  }
  const ratio = rounded(measured.value / measured.reference);
  const verdict = holds(budget.comparison, ratio, budget.limit) ? 'held' : 'missed';
  return { ...budget, verdict, ratio, reached: budget.target ? reach(budget.target, measured) : null };
}

/** Targets are what we want, in the words they were set: a ratio, a plain value, or a distance to the reference. */
function reach({ of, comparison, value: goal }, { value, reference }) {
  const amounts = { ratio: value / reference, value, difference: value - reference };
  const amount = rounded(amounts[of]);
  return { amount, met: holds(comparison, amount, goal) };
}

function holds(comparison, amount, limit) {
  if (comparison === 'below') return amount <= limit;
  if (comparison === 'above') return amount >= limit;
  throw new Error(`budgets.json: a comparison is below or above, not ${comparison}`);
}
