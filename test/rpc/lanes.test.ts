import { describe, expect, test } from 'vitest';
import { Lanes } from '../../src/rpc/lanes.js';
import { seededRandom } from '../harness/random.js';

/** A promise and its resolver. */
function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('lanes', () => {
  test('one key keeps its order, other keys and no key pass by', async () => {
    const lanes = new Lanes();
    const order: string[] = [];
    const first = gate();
    const slow = lanes.run('a', async () => {
      await first.opened;
      order.push('a1');
    });
    const behind = lanes.run('a', () => order.push('a2'));
    void lanes.run('b', () => order.push('b1'));
    void lanes.run(undefined, () => order.push('free'));
    expect(order).toEqual(['b1', 'free']);
    first.open();
    await Promise.all([slow, behind]);
    expect(order).toEqual(['b1', 'free', 'a1', 'a2']);
  });

  test('an idle lane runs in the same turn', () => {
    const lanes = new Lanes();
    expect(lanes.run('a', () => 42)).toBe(42);
    expect(lanes.run('a', () => 43)).toBe(43);
  });

  test('changes wait for changes above and below, a look for changes of its very path', async () => {
    const lanes = new Lanes();
    const order: string[] = [];
    const slow = gate();
    const change = (path: string) => ({ path, changes: true });
    const look = (path: string) => ({ path, changes: false });
    const note = (what: string) => () => order.push(what);
    const first = lanes.run(change('/a/b'), async () => {
      await slow.opened;
      order.push('first');
    });
    void lanes.run(change('/a/bc'), note('beside'));
    const waiting = [
      lanes.run(change('/a/b'), note('same')),
      lanes.run(change('/a/b/c'), note('below')),
      lanes.run(change('/a'), note('above')),
      lanes.run(look('/a/b'), note('look')),
      lanes.run([change('/x'), change('/a/b')], note('one of two')),
    ];
    void lanes.run(look('/a/b/d'), note('look below'));
    void lanes.run(look('/'), note('look above'));
    void lanes.run('/a/b', note('a name'));
    expect(order).toEqual(['beside', 'look below', 'look above', 'a name']);
    slow.open();
    await Promise.all([first, ...waiting]);
    expect(order[4]).toBe('first');
    expect(order.indexOf('same')).toBeLessThan(order.indexOf('below'));
    expect(order.indexOf('below')).toBeLessThan(order.indexOf('above'));
    expect(order).toHaveLength(10);
  });

  test('a look does not wait for a look', async () => {
    const lanes = new Lanes();
    const slow = gate();
    const first = lanes.run({ path: '/a', changes: false }, () => slow.opened);
    expect(lanes.run({ path: '/a', changes: false }, () => 42)).toBe(42);
    slow.open();
    await first;
  });

  test('whatever the paths, a change begins after all earlier ones above, below and at its path are done', async () => {
    const random = seededRandom(1);
    const below = (path: string, directory: string): boolean =>
      path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
    const lanes = new Lanes();
    const tasks: { path: string; changes: boolean; isDone: boolean }[] = [];
    const open = new Set<() => void>();
    const all: unknown[] = [];
    for (let index = 0; index < 2000; index += 1) {
      const depth = Math.floor(random() * 6);
      const path = `/${Array.from({ length: depth }, () => (random() < 0.5 ? 'a' : 'ab')).join('/')}`;
      const task = { path, changes: random() < 0.8, isDone: false };
      const earlier = tasks.filter((other) =>
        task.changes && other.changes
          ? below(task.path, other.path) || below(other.path, task.path)
          : task.path === other.path && (task.changes || other.changes),
      );
      tasks.push(task);
      const begun = lanes.run(task, async () => {
        expect(earlier.every(({ isDone }) => isDone)).toBe(true);
        await new Promise<void>((resolve) => open.add(resolve));
        task.isDone = true;
      });
      all.push(begun);
      if (random() < 0.5) await finishOne(open, random);
    }
    while (tasks.some(({ isDone }) => !isDone)) await finishOne(open, random);
    await Promise.all(all);
  });

  test('a failed task does not block the ones behind it', async () => {
    const lanes = new Lanes();
    const failing = lanes.run('a', () => Promise.reject(new Error('no')));
    const behind = lanes.run('a', () => 'went on');
    await expect(failing).rejects.toThrow('no');
    expect(await behind).toBe('went on');
  });
});

/** Ends one of the tasks that run, and lets those begin that waited for it. */
async function finishOne(open: Set<() => void>, random: () => number): Promise<void> {
  const resolve = [...open][Math.floor(random() * open.size)];
  if (resolve) open.delete(resolve);
  resolve?.();
  await new Promise((turn) => {
    setImmediate(turn);
  });
}
