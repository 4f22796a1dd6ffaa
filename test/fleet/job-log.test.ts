import { expect, test, vi } from 'vitest';
import { follow, type Standing, UNTOUCHED } from '../../src/fleet/jobs/job-log.js';
import type { JobState, RunningState } from '../../src/fleet/jobs/job-records.js';
import type { JobStore } from '../../src/fleet/jobs/job-store.js';
import { CLIENT, jobSubjects } from '../../src/fleet/jobs/job-subjects.js';
import { JobLeaseHolder } from '../../src/fleet/jobs/lease-holder.js';
import { insist } from '../../src/fleet/jobs/settle.js';
import { ExecError } from '../../src/protocol/errors.js';

const subjects = jobSubjects('test');
const QUEUED: JobState = { state: 'queued', attempt: 1, retriesLeft: 0 };
const ENDED: JobState = { state: 'ended', attempt: 1, retriesLeft: 0, outcome: 'cancelled', endedAt: 0 };

function running(machine: string, more: Partial<RunningState> = {}): RunningState {
  const token = `by-${machine}`;
  return {
    state: 'running',
    attempt: 1,
    retriesLeft: 0,
    machine,
    epoch: 1,
    token,
    leaseMs: 60_000,
    startedAt: 0,
    ...more,
  };
}

/** What a log says, given as step, author and state. */
function read(...log: [step: number, author: string, state: JobState][]): Standing {
  return log.reduce<Standing>((now, [step, author, state], index) => {
    const subject = subjects.log('c', 'job', String(step), author);
    const data = Buffer.from(JSON.stringify(state));
    const message = { subject, data, seq: index + 1, id: `m${index}`, timeMs: 0, header: () => undefined };
    return follow(now, message);
  }, UNTOUCHED);
}

test('of several proposals for a step the first one counts', () => {
  const log = read([1, 'a', running('a')], [1, 'b', running('b')], [1, CLIENT, ENDED]);
  expect(log).toMatchObject({ state: { machine: 'a' }, step: 1, seq: 1, id: 'm0' });
});

test('what arrives twice or late changes nothing', () => {
  const log = read(
    [1, 'a', running('a')],
    [1, 'a', running('a')],
    [2, 'a', ENDED],
    [1, 'a', running('a')],
    [2, 'b', QUEUED],
  );
  expect(log).toMatchObject({ state: ENDED, step: 2 });
});

test('a machine claims jobs for itself only, and a client claims none', () => {
  expect(read([1, 'b', running('a')]).step).toBe(0);
  expect(read([1, CLIENT, running('a')]).step).toBe(0);
});

test('a client may ask for the end of what runs, and change nothing else about it', () => {
  const cancelled = running('a', { cancel: true, claim: 1 });
  expect(read([1, 'a', running('a')], [2, CLIENT, cancelled])).toMatchObject({ state: cancelled, step: 2 });
  expect(read([1, 'a', running('a')], [2, CLIENT, running('b', { cancel: true })]).step).toBe(1);
  expect(read([1, 'a', running('a')], [2, CLIENT, running('a', { token: 'other' })]).step).toBe(1);
});

test('what is no step is ignored, and a log whose beginning has expired is read on', () => {
  const odd = { state: 'running' } as unknown as JobState;
  expect(read([1, 'a', odd], [Number.NaN, 'a', QUEUED], [-1, 'a', QUEUED])).toEqual(UNTOUCHED);
  expect(read([5, 'a', running('a')])).toMatchObject({ step: 5, state: { machine: 'a' } });
});

const silent = new ExecError('notConnected', 'JetStream does not answer.');

test('a lease is taken however long JetStream chooses a leader, unless nobody wants it any more', async () => {
  const key = { client: 'c', id: 'job' };
  const writeLease = vi.fn<() => Promise<number | null>>();
  for (let times = 0; times < 3; times += 1) writeLease.mockRejectedValueOnce(silent);
  writeLease.mockResolvedValue(7);
  // Only these methods are called.
  const store = {
    writeLease,
    lease: async () => ({ record: undefined, seq: 0, id: '' }),
  } as unknown as JobStore;
  const lost = vi.fn<() => void>();
  const holder = new JobLeaseHolder({ store, key, running: running('a'), lost });
  expect(await holder.take(() => true)).toBe(true);
  expect(holder.isHeld).toBe(true);
  holder.release();
  expect(writeLease).toHaveBeenCalledTimes(4);
  writeLease.mockRejectedValue(silent);
  let looks = 0;
  expect(await holder.take(() => (looks += 1) < 2)).toBe(false);
  expect(lost).not.toHaveBeenCalled();
});

test('a lease runs out while its machine is asleep, and is not renewed afterwards', async () => {
  const key = { client: 'c', id: 'job' };
  const writeLease = vi.fn<() => Promise<number>>().mockResolvedValue(1);
  const store = { writeLease } as unknown as JobStore;
  let now = 1_000;
  const state = running('a', { leaseMs: 600 });
  const lost = vi.fn<() => void>();
  const holder = new JobLeaseHolder({ store, key, running: state, lost, now: () => now });
  expect(await holder.take(() => true)).toBe(true);
  expect(holder.isHeld).toBe(true);
  // No timer has noticed.
  now += 3_600_000;
  expect(holder.isHeld).toBe(false);
  await expect.poll(() => lost.mock.calls.length).toBe(1);
  expect(writeLease).toHaveBeenCalledTimes(1);
});

test('a lease whose number has changed is still ours; a broken one is not', async () => {
  const key = { client: 'c', id: 'job' };
  const writeLease =
    vi.fn<(key: object, lease: object, options: { after: number }) => Promise<number | null>>();
  writeLease.mockImplementation(async (_key, _lease, { after }) => (after === 5 ? 6 : null));
  const ours = { record: { attempt: 1, epoch: 1 }, seq: 5, id: 'x' };
  const lease = vi.fn<() => Promise<object>>().mockResolvedValue(ours);
  const store = { writeLease, lease } as unknown as JobStore;
  const options = { store, key, running: running('a'), lost: () => undefined };
  const holder = new JobLeaseHolder(options);
  expect(await holder.take(() => true)).toBe(true);
  holder.release();
  lease.mockResolvedValue({ record: { attempt: 1, epoch: 1, broken: true }, seq: 9, id: 'y' });
  expect(await new JobLeaseHolder(options).take(() => true)).toBe(false);
});

test('a result is stored as soon as JetStream answers, and other failures are told', async () => {
  const write = vi.fn<() => Promise<void>>().mockRejectedValueOnce(silent).mockResolvedValue(undefined);
  await insist(write, { isOver: () => false });
  expect(write).toHaveBeenCalledTimes(2);
  write.mockRejectedValueOnce(silent);
  await expect(insist(write, { isOver: () => true })).rejects.toBe(silent);
  write.mockRejectedValueOnce(new TypeError('other'));
  await expect(insist(write, { isOver: () => false })).rejects.toThrow('other');
});
