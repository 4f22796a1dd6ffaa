import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ConcurrencyLimit } from '../../src/protocol/concurrency-limit.js';
import { TurnQueue } from '../../src/protocol/turn-queue.js';

function openEnd(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve = (): void => undefined;
  let reject = (_error: Error): void => undefined;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

test('a turn of the event loop belongs to one of those who wait, in the order they came', async () => {
  const queue = new TurnQueue();
  const seen: string[] = [];
  const waiters = ['a', 'b', 'c'].map((name) => queue.next().then(() => seen.push(name)));
  const turns = async (): Promise<void> => {
    for (let turn = 1; turn <= 3; turn += 1) {
      await nextTurn();
      seen.push(`turn ${turn}`);
    }
  };
  await Promise.all([...waiters, turns()]);
  expect(seen).toEqual(['a', 'turn 1', 'b', 'turn 2', 'c', 'turn 3']);
});

test('a limit lets in only so many, whoever waits longest next, and one that failed makes room', async () => {
  const limit = new ConcurrencyLimit(2);
  const started: number[] = [];
  const ends = [0, 1, 2, 3].map(openEnd);
  const runs = ends.map(({ promise }, index) =>
    limit.run(async () => {
      started.push(index);
      await promise;
      return index;
    }),
  );
  expect(started).toEqual([0, 1]);
  ends[1]?.reject(new Error('no'));
  await expect(runs[1]).rejects.toThrow('no');
  expect(started).toEqual([0, 1, 2]);
  const late = limit.run(async () => started.push(4));
  ends[0]?.resolve();
  ends[2]?.resolve();
  ends[3]?.resolve();
  await Promise.all([runs[0], runs[2], runs[3], late]);
  expect(started).toEqual([0, 1, 2, 3, 4]);
});
