import { createInterface } from 'node:readline';
import { repeat } from '../lib/stats.mjs';

/** Answers each line "COUNT BUDGET_MS" on stdin with a JSON array of milliseconds. */
export async function serveSamples(once) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [count, budgetMs] = line.split(' ').map(Number);
    process.stdout.write(`${JSON.stringify(await repeat({ count, budgetMs }, once))}\n`);
  }
}
