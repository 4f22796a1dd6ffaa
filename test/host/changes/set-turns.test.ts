import { expect, test } from 'vitest';
import { SetTurns } from '../../../src/host/changes/set-turns.js';

/** Work that ends when told to. */
function work(done: string[], name: string): { begin: () => Promise<void>; end: () => void } {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  return {
    begin: async () => {
      done.push(`${name} begins`);
      await ended;
      done.push(`${name} ends`);
    },
    end,
  };
}

test('whoever looks holds up no program that enters, but applying waits for both, and they for it', async () => {
  const turns = new SetTurns();
  const done: string[] = [];
  const [look, enter, alone, late] = ['look', 'enter', 'alone', 'late'].map((name) => work(done, name));
  if (!look || !enter || !alone || !late) throw new Error('unreachable');
  const looking = turns.looking(look.begin);
  const entering = turns.entering(enter.begin);
  const applying = turns.alone(alone.begin);
  const lookingLate = turns.looking(late.begin);
  const enteringLate = turns.entering(async () => void done.push('entered'));
  enter.end();
  await entering;
  expect(done).toEqual(['enter begins', 'look begins', 'enter ends']);
  look.end();
  await looking;
  alone.end();
  await applying;
  await enteringLate;
  late.end();
  await lookingLate;
  expect(done.slice(3, 6)).toEqual(['look ends', 'alone begins', 'alone ends']);
  expect(done.slice(6).toSorted()).toEqual(['entered', 'late begins', 'late ends'].toSorted());
});

test('work that fails holds up nobody', async () => {
  const turns = new SetTurns();
  const fail = () => Promise.reject(new Error('failed'));
  for (const turn of ['entering', 'looking', 'alone'] as const)
    await expect(turns[turn](fail)).rejects.toThrow('failed');
  expect(await turns.looking(async () => 1)).toBe(1);
  expect(await turns.alone(async () => 2)).toBe(2);
  expect(await turns.entering(async () => 3)).toBe(3);
});
