import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { timeSpent } from '../../../src/host/ports/time-spent.js';

test('waiting is not spending', async () => {
  const spent = timeSpent();
  await setTimeout(1_000);
  expect(spent()).toBeLessThan(500);
});

test('working is, and never more than the time that has passed', () => {
  const spent = timeSpent();
  const begun = performance.now();
  while (process.cpuUsage().user === 0 || performance.now() - begun < 50);
  const count = spent();
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(performance.now() - begun + 1);
});
