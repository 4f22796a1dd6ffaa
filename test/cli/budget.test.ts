import { expect, test } from 'vitest';
import { Budget } from '../../src/copy/budget.js';

test('a budget is never overspent, is given out in order, and lets what is larger go alone', async () => {
  const budget = new Budget(10);
  let spent = 0;
  const begun: number[] = [];
  const spend = (amount: number): Promise<void> =>
    budget.spend(amount, async () => {
      begun.push(amount);
      spent += Math.min(amount, 10);
      expect(spent).toBeLessThanOrEqual(10);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      spent -= Math.min(amount, 10);
    });
  const amounts = [4, 4, 4, 25, 1, 1, 10, 2];
  await Promise.all(amounts.map(spend));
  expect(begun).toEqual(amounts);
  expect(spent).toBe(0);
});

test('what fails gives back what it took', async () => {
  const budget = new Budget(1);
  const failed = budget.spend(1, () => Promise.reject(new Error('no')));
  await expect(failed).rejects.toThrow('no');
  expect(await budget.spend(1, async () => 'yes')).toBe('yes');
});
