import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { concurrently } from '../../../src/host/files/access/concurrently.js';

async function* numbers(count: number, onEnd: () => void = () => undefined): AsyncGenerator<number> {
  try {
    for (let number = 0; number < count; number += 1) yield number;
  } finally {
    onEnd();
  }
}

describe('work on many things at a time', () => {
  test('does all of it, never more at a time than allowed', async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await concurrently(numbers(100), 7, async (number) => {
      running += 1;
      most = Math.max(most, running);
      await setImmediate();
      running -= 1;
      done.push(number);
    });
    expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(most).toBe(7);
  });

  test('stops at the first failure, and only when nothing runs any more', async () => {
    let started = 0;
    let running = 0;
    let ended = 0;
    const work = concurrently(
      numbers(1000, () => (ended += 1)),
      5,
      async (number) => {
        started += 1;
        running += 1;
        await setImmediate();
        if (number > 2) await setImmediate();
        running -= 1;
        if (number >= 2) throw new Error(`number ${number}`);
      },
    );
    await expect(work).rejects.toThrow('number 2');
    expect(running).toBe(0);
    expect(started).toBeLessThan(20);
    expect(ended).toBe(1);
  });

  test('leaves no error without somebody who hears of it', async () => {
    const alone: unknown[] = [];
    const hear = (error: unknown): void => void alone.push(error);
    process.on('unhandledRejection', hear);
    for (let round = 0; round < 10; round += 1) {
      const work = concurrently(numbers(50), 8, async () => {
        throw new Error('at once');
      });
      // Looked at late, as the old way of collecting promises did.
      const outcome = work.catch((error: unknown) => error);
      await setImmediate();
      expect(await outcome).toBeInstanceOf(Error);
    }
    await setImmediate();
    process.off('unhandledRejection', hear);
    expect(alone).toEqual([]);
  });

  test('an error of the source is an error of the whole', async () => {
    const broken = async function* (): AsyncGenerator<number> {
      yield 1;
      throw new Error('the source');
    };
    await expect(concurrently(broken(), 3, async () => undefined)).rejects.toThrow('the source');
  });
});
