import { describe, expect, test } from 'vitest';
import { ChangeQueue } from '../../src/contract/change-queue.js';

describe('change queue', () => {
  test('merges by path and tells what happened last, last', async () => {
    const queue = new ChangeQueue(0);
    queue.add('/a', 'changed');
    queue.add('/b', 'changed');
    queue.add('/a', 'removed');
    const { value } = await queue.batches().next();
    expect(value).toEqual({
      changes: [
        { path: '/b', kind: 'changed' },
        { path: '/a', kind: 'removed' },
      ],
      overflow: false,
    });
  });

  test('becomes an overflow past its bound, and lists again afterwards', async () => {
    const queue = new ChangeQueue(0);
    const batches = queue.batches();
    for (let index = 0; index < 4097; index++) queue.add(`/${index}`, 'changed');
    queue.add('/after', 'changed');
    expect((await batches.next()).value).toEqual({
      changes: [{ path: '/after', kind: 'changed' }],
      overflow: true,
    });
    queue.add('/later', 'changed');
    expect((await batches.next()).value).toEqual({
      changes: [{ path: '/later', kind: 'changed' }],
      overflow: false,
    });
  });

  test('ends a reader that waits, also one that collects', async () => {
    for (const debounceMs of [0, 60_000]) {
      const queue = new ChangeQueue(debounceMs);
      const pending = queue.batches().next();
      if (debounceMs > 0) queue.add('/a', 'changed');
      await new Promise(setImmediate);
      queue.close();
      expect((await pending).done).toBe(true);
    }
  });
});
