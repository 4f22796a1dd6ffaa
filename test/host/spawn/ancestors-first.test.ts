import { expect, test } from 'vitest';
import { ancestorsFirst } from '../../../src/host/spawn/ancestors-first.js';

const pids = (...members: [pid: number, parent: number][]): number[] =>
  ancestorsFirst(members.map(([pid, parent]) => ({ pid, parent }))).map(({ pid }) => pid);

test('parents come before their children, whatever their pids', () => {
  expect(pids([2, 9], [3, 2], [9, 30_000], [30_000, 1])).toEqual([30_000, 9, 2, 3]);
  expect(pids([5, 1], [6, 5], [7, 6])).toEqual([5, 6, 7]);
  expect(pids([5, 1], [6, 1])).toEqual([5, 6]);
});

test('pids that have changed hands lead in no circle', () => {
  expect(pids([2, 3], [3, 2]).length).toBe(2);
  expect(pids([2, 2])).toEqual([2]);
});

test('a long line takes no time', () => {
  const line = Array.from({ length: 5_000 }, (_, index): [number, number] => [
    10_000 - index,
    10_001 - index,
  ]);
  const begun = performance.now();
  expect(pids(...line.toReversed())[0]).toBe(10_000);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
