import { describe, expect, test } from 'vitest';
import { SetupPace } from '../../../src/host/sandbox/launch/setup-pace.js';

/** Makes one sandbox that takes so long. Gives when it was looked at; the last look saw it made. */
function make(pace: SetupPace, takesMs: number): number[] {
  let time = 0;
  const looks = pace.begin(() => time);
  const times: number[] = [];
  do {
    time += looks.pauseMs();
    times.push(time);
  } while (time < takesMs);
  looks.found();
  return times;
}

const makeMany = (pace: SetupPace, takesMs: number) =>
  Array.from({ length: 30 }, () => make(pace, takesMs)).at(-1) ?? [];

describe('looks for a sandbox that is being made', () => {
  test('begin early and become rarer', () => {
    expect(make(new SetupPace(), 9)).toEqual([3, 4, 5, 6, 7.2, 8.64, expect.closeTo(10.37, 2)]);
    expect(make(new SetupPace(), 1000).length).toBeLessThan(70);
  });

  test('are one or two once it is known how long it takes', () => {
    const pace = new SetupPace();
    const settled = makeMany(pace, 7);
    expect(settled.length).toBeLessThanOrEqual(2);
    expect(settled.at(-1)).toBeLessThan(8.5);
  });

  test('come no later than they need to when it goes fast again', () => {
    const pace = new SetupPace();
    makeMany(pace, 100);
    expect(make(pace, 7)[0]).toBeLessThanOrEqual(20);
    for (let starts = 0; starts < 6; starts += 1) make(pace, 7);
    expect(make(pace, 7).at(-1)).toBeLessThan(8.5);
  });

  test('come sooner after one that ended before it was looked at', () => {
    const pace = new SetupPace();
    makeMany(pace, 12);
    const looks = pace.begin(() => 0);
    const before = looks.pauseMs();
    looks.found();
    expect(pace.begin(() => 0).pauseMs()).toBeCloseTo(before * 0.8);
  });

  test('of a hundred sandboxes at once count as one', () => {
    const pace = new SetupPace();
    const all = Array.from({ length: 100 }, () => pace.begin(() => 0));
    for (const looks of all) looks.pauseMs();
    for (const looks of all) looks.pauseMs();
    expect(make(pace, 1)[0]).toBeCloseTo(3.6);
  });
});
