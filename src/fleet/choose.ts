import { leastLoaded, type Machine, preferred } from './machine.js';
import { allThatMatch, explainNoMatch, matches, type Selector } from './selector.js';

/** The machine that a selector means; undefined if there is none that takes work. */
export function chooseFrom(
  machines: readonly Machine[],
  selector: Selector,
  sticky: string | undefined,
): Machine | undefined {
  const ready = machines.filter((machine) => matches(selector, machine) && machine.state === 'ready');
  return sticky === undefined ? leastLoaded(ready) : preferred(ready, `${sticky} ${selector.text}`);
}

/** Says why there is none, in one sentence. */
export function explainNoChoice(machines: readonly Machine[], selector: Selector): string {
  const count = machines.filter((machine) => matches(selector, machine)).length;
  return count === 0
    ? explainNoMatch(selector, machines)
    : `${allThatMatch(selector, count)} cordoned or draining.`;
}
