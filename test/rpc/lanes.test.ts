import { describe, expect, test } from 'vitest';
import { Lanes } from '../../src/rpc/index.js';

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

  test('a failed task does not block the ones behind it', async () => {
    const lanes = new Lanes();
    const failing = lanes.run('a', () => Promise.reject(new Error('no')));
    const behind = lanes.run('a', () => 'went on');
    await expect(failing).rejects.toThrow('no');
    expect(await behind).toBe('went on');
  });
});
