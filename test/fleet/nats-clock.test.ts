import { expect, test } from 'vitest';
import { NatsClock } from '../../src/fleet/bus/nats-clock.js';

/** A clock of NATS, and our steady one, which the test sets. */
function openClock() {
  let steady = 1_000;
  const clock = new NatsClock(() => steady);
  const wait = (ms: number): void => void (steady += ms);
  /** NATS takes so long to get our question, and so long to answer. */
  const ask = (timeMs: number, [there, back]: [number, number]): void => {
    const measured = clock.measure();
    wait(there + back);
    measured(timeMs);
  };
  return { clock, wait, ask };
}

test('the time is unknown until NATS has stamped something', () => {
  const { clock } = openClock();
  expect(clock.now()).toBeUndefined();
  clock.measure()(Number.NaN);
  expect(clock.now()).toBeUndefined();
});

test('an answer tells the time to half of what it took, and it goes on', () => {
  const { clock, wait, ask } = openClock();
  ask(50_000, [10, 10]);
  expect(clock.now()).toBe(50_010);
  wait(500);
  expect(clock.now()).toBe(50_510);
});

test('a slow answer does not spoil what a fast one has told', () => {
  const { clock, ask } = openClock();
  ask(50_000, [1, 1]);
  ask(50_011, [10, 5_000]);
  expect(clock.now()).toBe(55_011);
});

test('what was stamped long ago changes nothing, what was stamped later than we thought possible does', () => {
  const { clock, ask } = openClock();
  ask(50_000, [1, 1]);
  clock.heard(20);
  expect(clock.now()).toBe(50_001);
  clock.heard(90_000);
  expect(clock.now()).toBe(90_000);
});

test('a clock that somebody has set back is followed', () => {
  const { clock, ask } = openClock();
  ask(50_000, [1, 1]);
  ask(20_000, [1, 1]);
  expect(clock.now()).toBe(20_001);
});

test('an old measurement is replaced, not narrowed', () => {
  const { clock, wait, ask } = openClock();
  ask(50_000, [1, 1]);
  wait(3_600_000);
  // Ours has lost 40 ms in that hour.
  ask(3_650_042, [50, 50]);
  expect(clock.now()).toBe(3_650_092);
});
