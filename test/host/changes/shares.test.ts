// Needs: bwrap
import { expect, test } from 'vitest';
import { ChangeSets, OwnedChanges } from '../../../src/host/changes/index.js';
import { DEFAULT_LIMITS, largestSize } from '../../../src/host/changes/set-limits.js';
import { holdingPolicy, Scene } from './harness.js';

test('clients that share the room for sets leave some for each other, in number and in size', async () => {
  await using scene = new Scene();
  const sets = new ChangeSets({ directory: scene.sets, maxSets: 8 });
  try {
    const made = async (client: string, share?: string): Promise<number> => {
      const owned = new OwnedChanges(sets, () => ({ client, share }));
      const place = { cwd: scene.workspace, temporary: undefined };
      for (let count = 0; ; count += 1)
        try {
          const use = await owned.use(holdingPolicy([scene.workspace], `set-${count}`), place);
          use.close();
        } catch (error) {
          expect(error).toMatchObject({ code: 'changesFull' });
          return count;
        }
    };
    expect(await made('client:greedy', 'greedy')).toBe(4);
    expect(await made('client:modest', 'modest')).toBe(2);
    expect(await made('client:greedy', 'greedy')).toBe(4);
    // Who started the server may use what is left.
    expect(await made('local')).toBe(2);
  } finally {
    await sets.close();
  }
});

test('a set may take half of what other clients leave, and all that is left if nobody shares it', () => {
  const limits = { ...DEFAULT_LIMITS, maxSetBytes: 100, maxTotalBytes: 80 };
  const size = (bytes: number) => ({ bytes, files: 0 });
  const largest = (own: number, foreign: number, isShared: boolean): number =>
    largestSize(limits, { own: size(own), foreign: size(foreign), isShared }).bytes;
  expect(largest(0, 0, true)).toBe(40);
  expect(largest(10, 0, true)).toBe(30);
  expect(largest(0, 40, true)).toBe(20);
  expect(largest(40, 40, true)).toBeLessThan(0);
  expect(largest(10, 0, false)).toBe(70);
});
