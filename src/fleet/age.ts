import { uptime } from 'node:os';
import type { Machine } from './machine.js';

/** Ages that differ by less may have been told in a different order than they were measured. */
const NEAR_MS = 2_000;

/** Milliseconds since this machine was started. Nobody sets this clock, and it goes on while the machine is asleep. */
export function sinceBootMs(): number {
  return Math.round(uptime() * 1000);
}

/** How long something has been there, whatever happens to the clock of this machine. */
export function stopwatch(): () => number {
  const begunAt = sinceBootMs();
  return () => sinceBootMs() - begunAt;
}

/** One run of a machine, and how long it has been there. */
export type Aged = Pick<Machine, 'epoch' | 'upMs'>;

/**
 * Whether a run has begun after another one, by their ages: each has measured its own, so their clocks need not agree. Of two that
 * began together, any will do if all agree on it. An older version does not tell its age.
 */
export function isLater(run: Aged, than: Aged): boolean {
  const ahead = (than.upMs ?? 0) - (run.upMs ?? 0);
  if (run.upMs === undefined || than.upMs === undefined || Math.abs(ahead) < NEAR_MS)
    return run.epoch > than.epoch;
  return ahead > 0;
}
