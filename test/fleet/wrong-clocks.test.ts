// Needs: nats-server
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
