import { afterEach, expect, test, vi } from 'vitest';
import type { Bus } from '../../src/fleet/bus/bus.js';
import { type Aged, isLater } from '../../src/fleet/age.js';
import { type Claim, NameGuard } from '../../src/fleet/name-guard.js';
import { subjectsOf } from '../../src/fleet/subjects.js';

const subjects = subjectsOf('f');
const guards: NameGuard[] = [];
afterEach(() => {
  for (const guard of guards.splice(0)) guard.close();
});

/** What another run answers. */
function answer(change: Partial<Claim>): Claim {
  const use = { cores: 1, load: 0, sessions: 0, processes: 0, sandbox: 'none' };
  const who = { name: 'a', labels: {}, version: '', state: 'ready' as const };
  return { ...who, ...use, epoch: 1, seenAt: 0, isMember: true, ...change };
}

/** A guard of a run that is a minute old, in a fleet where others answer to its name. */
function guardAmong(others: () => readonly Claim[], { confirms = false } = {}) {
  let hear: (claim: Claim) => void = () => undefined;
  let asked = 0;
  const bus = {
    listen: (_: string, onMessage: (message: { json: () => unknown }) => void) => {
      hear = (claim) => onMessage({ json: () => claim });
      return () => undefined;
    },
    post: () => {
      asked += 1;
      for (const claim of others()) hear(claim);
    },
  };
  const taken = vi.fn<() => void>();
  const guard = new NameGuard({
    bus: bus as unknown as Bus,
    name: 'a',
    epoch: 500,
    upMs: () => 60_000,
    subjects,
    confirm: () => Promise.resolve(confirms),
    taken,
  });
  guards.push(guard);
  return { guard, taken, asked: () => asked };
}

test('of two runs the one that has been there for less time is the later one, whatever their clocks say', () => {
  const old = { upMs: 60_000, epoch: 9 };
  const young = { upMs: 50_000, epoch: 5 };
  const order = (one: Aged, two: Aged) => [isLater(one, two), isLater(two, one)];
  expect(order(young, old)).toEqual([true, false]);
  expect(order({ ...young, epoch: 99 }, old)).toEqual([true, false]);
  // Began at the same moment, as far as anybody can tell.
  expect(order({ ...young, upMs: 59_000 }, old)).toEqual([false, true]);
  // An older version does not tell.
  expect(order({ epoch: 10 }, old)).toEqual([true, false]);
});

test('without a registry the older of two machines gives way, although its clock is ahead', async () => {
  const younger = guardAmong(() => [answer({ epoch: 1, upMs: 10_000 })]);
  const older = guardAmong(() => [answer({ epoch: 900, upMs: 600_000 })]);
  const claiming = guardAmong(() => [answer({ epoch: 1, upMs: 10_000, isMember: false })]);
  const all = [younger, older, claiming];
  for (const { guard } of all) guard.watch();
  await Promise.all(all.map(({ guard }) => guard.check()));
  expect(all.map(({ taken }) => taken.mock.calls.length)).toEqual([1, 0, 0]);
});

test('whoever the registry confirms stays, and whoever was overtaken there gives way', async () => {
  const confirmed = guardAmong(() => [answer({ epoch: 900, upMs: 10_000 })], { confirms: true });
  confirmed.guard.watch();
  await confirmed.guard.check();
  expect(confirmed.taken).not.toHaveBeenCalled();
  const overtaken = guardAmong(() => [answer({ epoch: 1, upMs: 600_000 })]);
  expect(await overtaken.guard.overtaken()).toBe(true);
  expect(overtaken.taken).toHaveBeenCalledTimes(1);
  // It has entered itself, and was lost again.
  const alone = guardAmong(() => []);
  expect(await alone.guard.overtaken()).toBe(false);
  expect(alone.taken).not.toHaveBeenCalled();
});

test('a name is claimed when nobody else has asked for it since the last question', async () => {
  const inbox = subjects.answer('a', 'a', 'x');
  const free = guardAmong(() => []);
  await free.guard.claim();
  expect(free.asked()).toBe(2);
  // One that is too late to answer our second question asks one itself.
  const { guard, asked } = guardAmong(() => {
    if (asked() === 2) guard.asked(inbox);
    return asked() < 3 ? [] : [answer({ epoch: 400, isMember: false })];
  });
  await expect(guard.claim()).rejects.toMatchObject({ code: 'invalidConfiguration' });
  expect(asked()).toBe(3);
  // Whoever only wants to know who we are does not keep us waiting.
  const described = guardAmong(() => {
    described.guard.asked(subjects.answer('~all', 'client', 'x'));
    return [];
  });
  await described.guard.claim();
  expect(described.asked()).toBe(2);
});
