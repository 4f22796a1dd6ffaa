import type { Machine } from '../machine.js';
import { explainNoMatch, matches, parseSelector } from '../selector.js';
import type { Job } from './job.js';

/** Says in one sentence what a queued job waits for. */
export function whyQueued(job: Job, machines: readonly Machine[], jobs: readonly Job[]): string {
  const selector = parseSelector(job.on);
  const matching = machines.filter((machine) => matches(selector, machine));
  if (matching.length === 0) return explainNoMatch(selector, machines);
  const willing = matching.filter((machine) => (machine.jobs?.slots ?? 0) > 0);
  if (willing.length === 0)
    return `None of the ${matching.length} machines that match "${job.on}" takes jobs: start them with --job-slots.`;
  const ready = willing.filter(({ state }) => state === 'ready');
  if (ready.length === 0)
    return `All ${willing.length} machines that match "${job.on}" are cordoned or draining.`;
  const { limit } = job;
  const inUse = limit
    ? jobs.filter((other) => other.state === 'running' && other.limit?.name === limit.name).length
    : 0;
  if (limit && inUse >= limit.count)
    return `The limit "${limit.name}" is reached: ${inUse} of ${limit.count} jobs are running.`;
  const free = ready.filter((machine) => (machine.jobs?.running ?? 0) < (machine.jobs?.slots ?? 0));
  if (free.length > 0) return 'It is about to be taken.';
  const before = jobs.filter((other) => other.state === 'queued' && comesBefore(other, job)).length;
  return `All ${ready.length} machines that match "${job.on}" are busy; ${before} jobs come before it.`;
}

function comesBefore(other: Job, job: Job): boolean {
  if (other.id === job.id) return false;
  return (
    other.priority > job.priority || (other.priority === job.priority && other.submittedAt < job.submittedAt)
  );
}
