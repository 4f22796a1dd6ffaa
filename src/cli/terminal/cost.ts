import type { ProcessUsage } from '../../contract/index.js';
import { complain } from '../exit-codes.js';
import { sizeOf } from './quantities.js';

/** Prints what a process cost. */
export function printCost(usage: ProcessUsage | undefined, elapsedMs: number): void {
  const elapsed = `${seconds(elapsedMs)} elapsed`;
  if (!usage) return complain(new Error(`${elapsed}; the server does not report what a process costs`));
  const { userMs, systemMs, peakMemoryBytes, peakMemoryIsUpperBound, outputBytes } = usage;
  const peak = `${peakMemoryIsUpperBound ? 'at most ' : ''}${sizeOf(peakMemoryBytes)}`;
  complain(
    new Error(
      `${elapsed}, ${seconds(userMs)} user, ${seconds(systemMs)} system, ` +
        `${peak} peak memory, ${sizeOf(outputBytes)} output`,
    ),
  );
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 3 : 1)} s`;
}
