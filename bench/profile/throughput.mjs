import { median, rounded } from '../lib/stats.mjs';

/**
 * The throughput of rounds that took so many seconds for so many GB each.
 * @param {number[]} rounds
 * @param {{ unit: { amount: number }, warmed?: unknown }} about
 */
export function sayThroughput(rounds, { unit }) {
  return `${rounded(median(rounds.map((seconds) => (unit.amount * 1000) / seconds)))} MB/s`;
}
