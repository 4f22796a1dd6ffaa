import type { Machine } from '../machine.js';
import { allThatMatch, explainNoMatch, matches, parseSelector } from '../selector.js';
import type { Job } from './job.js';

/** Says in one sentence what a queued job waits for. */
export function whyQueued(job: Job, machines: readonly Machine[], jobs: readonly Job[]): string {
  const selector = parseSelector(job.on);
  const matching = machines.filter((machine) => matches(selector, machine));
  if (matching.length === 0) return explainNoMatch(selector, machines);
  const willing = matching.filter((machine) => (machine.jobs?.slots ?? 0) > 0);
  if (willing.length === 0)
    return `${allThatMatch(selector, matching.length)} not taking jobs: start ${matching.length === 1 ? 'it' : 'one'} with --job-slots.`;
  const ready = willing.filter(({ state }) => state === 'ready');
  if (ready.length === 0) return `${allThatMatch(selector, willing.length)} cordoned or draining.`;
  const { limit } = job;
  const inUse = limit
    ? jobs.filter((other) => other.state === 'running' && other.limit?.name === limit.name).length
    : 0;
  if (limit && inUse >= limit.count)
    return `The limit "${limit.name}" is reached: ${inUse} of ${limit.count} jobs are running.`;
  const free = ready.filter((machine) => (machine.jobs?.running ?? 0) < (machine.jobs?.slots ?? 0));
  if (free.length > 0) return 'It is about to be taken.';
  const rivals = jobs.filter(({ state, on }) => state === 'queued' && ready.some(isMeantBy(on)));
  const before = rivals.filter((other) => comesBefore(other, job)).length;
  const first =
    before === 0 ? 'it is next' : before === 1 ? '1 job comes first' : `${before} jobs come first`;
  return `${allThatMatch(selector, ready.length)} busy; ${first}.`;
}

function isMeantBy(on: string): (machine: Machine) => boolean {
  const selector = parseSelector(on);
  return (machine) => matches(selector, machine);
}

function comesBefore(other: Job, job: Job): boolean {
  if (other.id === job.id) return false;
  return (
    other.priority > job.priority || (other.priority === job.priority && other.submittedAt < job.submittedAt)
  );
}
