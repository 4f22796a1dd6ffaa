// Needs: nats-server
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Fleet, FleetMember, type Jobs, type JoinOptions, prepareFleet } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';

const HOUR_MS = 3_600_000;
let cluster: NatsCluster;
const opened: AsyncDisposable[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start();
  await prepareFleet({ servers: cluster.urls });
});
afterAll(() => cluster.stop());
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

const trueNow = Date.now;

/** What happens from now on happens where the clock is wrong by so much. */
function setClock(aheadMs: number): void {
  vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + aheadMs);
}

async function join(name: string, options: Partial<JoinOptions> = {}): Promise<FleetMember> {
  const server = new ExecServer();
  const member = await FleetMember.join(
    { servers: cluster.urls },
    { name, server, insecure: true, ...options },
  );
  opened.push(server, member);
  return member;
}

/** A client that has not read anything from NATS yet. */
async function openJobs(): Promise<Jobs> {
  const fleet = await Fleet.connect({ servers: cluster.urls });
  opened.push(fleet);
  return await fleet.jobs();
}

for (const [what, aheadMs] of [
  ['behind and a machine whose clock is ahead', HOUR_MS],
  ['ahead and a machine whose clock is behind', -HOUR_MS],
] as const) {
  test(`a client whose clock is ${what} agree on deadlines`, async () => {
    const begunAt = trueNow();
    setClock(-aheadMs);
    const jobs = await openJobs();
    const long = await jobs.submit({ on: '', argv: ['true'], deadlineMs: 60_000 });
    const short = await jobs.submit({ on: '', argv: ['sleep', '1000'], deadlineMs: 1_500 });
    setClock(aheadMs);
    await join('a', { jobSlots: 2 });
    expect((await jobs.wait(long.id)).result).toEqual({ kind: 'exited', exitCode: 0 });
    expect(['timedOut', 'expired']).toContain((await jobs.wait(short.id)).result?.kind);
    // The times of a job are those of NATS, whose clock is right here.
    for (const { submittedAt, startedAt, endedAt } of await jobs.list())
      for (const time of [submittedAt, startedAt ?? submittedAt, endedAt ?? 0])
        expect(Math.abs(time - begunAt)).toBeLessThan(HOUR_MS / 2);
    expect(Math.abs(jobs.now() - begunAt)).toBeLessThan(HOUR_MS / 2);
  });
}

/** A connection that says what it likes. */
async function connectRaw(): Promise<NatsConnection> {
  const nats = await connect({ servers: cluster.urls });
  opened.push({ [Symbol.asyncDispose]: () => nats.close() });
  return nats;
}

test('what is told of a machine whose clock is wrong is by the clock of who asks', async () => {
  setClock(HOUR_MS);
  await join('a');
  setClock(0);
  const fleet = await Fleet.connect({ servers: cluster.urls });
  opened.push(fleet);
  // Joining does not wait for a registry that is busy.
  await expect.poll(async () => (await fleet.listRegistered()).length, { timeout: 20_000 }).toBe(1);
  const machines = [...(await fleet.list()), ...(await fleet.listRegistered()), await fleet.describe('a')];
  expect(machines).toHaveLength(3);
  for (const { seenAt, upMs } of machines) {
    expect(Math.abs(seenAt - Date.now())).toBeLessThan(HOUR_MS / 2);
    expect(upMs).toBeLessThan(HOUR_MS / 2);
  }
});

test('whoever has entered a name last has it, although its clock is behind', async () => {
  const nats = await connectRaw();
  const lost = new Promise<string>((resolve) => void join('a', { onLost: resolve }));
  const fleet = await Fleet.connect({ servers: cluster.urls });
  opened.push(fleet);
  await expect.poll(async () => (await fleet.listRegistered()).length, { timeout: 20_000 }).toBe(1);
  // Another one has got the name, as if the first had stood still for a while.
  const first = await fleet.describe('a');
  const second = { ...first, epoch: first.epoch - HOUR_MS * 1000, upMs: 1 };
  nats.subscribe('ew.default.whois.a', {
    callback: (_, { reply = '' }) => nats.publish(reply, JSON.stringify({ ...second, isMember: true })),
  });
  await nats.flush();
  await nats.request('$KV.ew-default-machines.a', JSON.stringify(second));
  await fleet.setState('a', 'cordoned');
  expect(await lost).toBe('another machine has taken this name');
});
