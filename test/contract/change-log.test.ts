import { describe, expect, test } from 'vitest';
import { ChangeLog } from '../../src/contract/change-log.js';

describe('change log', () => {
  test('merges by path and tells what happened last, last', async () => {
    const log = new ChangeLog();
    const batches = log.open(0).batches();
    log.add('/a', 'changed');
    log.add('/b', 'changed');
    log.add('/a', 'removed');
    expect((await batches.next()).value).toEqual({
      changes: [
        { path: '/b', kind: 'changed' },
        { path: '/a', kind: 'removed' },
      ],
      overflow: false,
    });
  });

  test('becomes an overflow past its bound, and lists again afterwards', async () => {
    const log = new ChangeLog();
    const batches = log.open(0).batches();
    for (let index = 0; index < 4097; index++) log.add(`/${index}`, 'changed');
    expect((await batches.next()).value).toEqual({ changes: [], overflow: true });
    log.overflow();
    log.add('/after', 'changed');
    expect((await batches.next()).value).toEqual({
      changes: [{ path: '/after', kind: 'changed' }],
      overflow: true,
    });
    log.add('/later', 'changed');
    expect((await batches.next()).value).toEqual({
      changes: [{ path: '/later', kind: 'changed' }],
      overflow: false,
    });
  });

  test('a reader that is away costs the others nothing', async () => {
    const log = new ChangeLog();
    const [away, quick, late] = [log.open(0).batches(), log.open(0).batches(), log.open(0)];
    for (let index = 0; index < 5000; index++) {
      log.add(`/${index}`, 'changed');
      expect((await quick.next()).value).toEqual({
        changes: [{ path: `/${index}`, kind: 'changed' }],
        overflow: false,
      });
    }
    expect((await away.next()).value).toEqual({ changes: [], overflow: true });
    late.close();
    log.add('/later', 'removed');
    const [first, second] = [await away.next(), await quick.next()];
    expect(first.value).toEqual({ changes: [{ path: '/later', kind: 'removed' }], overflow: false });
    // One list for both.
    expect(second.value).toBe(first.value);
  });

  test('a reader hears of what comes after it', async () => {
    const log = new ChangeLog();
    const first = log.open(0).batches();
    log.add('/before', 'changed');
    const second = log.open(0).batches();
    log.add('/after', 'changed');
    expect((await second.next()).value?.changes).toEqual([{ path: '/after', kind: 'changed' }]);
    expect((await first.next()).value?.changes).toHaveLength(2);
  });

  test('ends a reader that waits, also one that collects', async () => {
    for (const debounceMs of [0, 60_000]) {
      const log = new ChangeLog();
      const reader = log.open(debounceMs);
      const pending = reader.batches().next();
      if (debounceMs > 0) log.add('/a', 'changed');
      await new Promise(setImmediate);
      reader.close();
      expect((await pending).done).toBe(true);
    }
  });
});
