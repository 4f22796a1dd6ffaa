// Needs: nats-server
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Bus } from '../../src/fleet/bus/bus.js';
import { Fleet, FleetMember, type Job, type Jobs, prepareFleet } from '../../src/fleet/index.js';
import type { RunningState } from '../../src/fleet/jobs/job-records.js';
import { JobStore } from '../../src/fleet/jobs/job-store.js';
import { CLIENT } from '../../src/fleet/jobs/job-subjects.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { TestFolder } from '../harness/processes.js';

const folder = new TestFolder();
let cluster: NatsCluster;
let fleet: Fleet;
let jobs: Jobs;
const buses: Bus[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start();
  await prepareFleet({ servers: cluster.urls });
  fleet = await Fleet.connect({ servers: cluster.urls });
  jobs = await fleet.jobs();
});
afterAll(async () => {
  for (const bus of buses) await bus.close('over');
  await fleet.close();
  await cluster.stop();
  folder[Symbol.dispose]();
});

/** Somebody with a connection to one of the nodes. */
async function storeOf(author: string, node: number): Promise<JobStore> {
  const bus = await Bus.connect({ servers: [cluster.urls[node % 3] ?? ''] }, author);
  buses.push(bus);
  return await JobStore.open(bus, 'default', { author });
}

function claim(machine: string, epoch = 1): RunningState {
  const token = `${machine}-${epoch}`;
  return {
    state: 'running',
    attempt: 1,
    retriesLeft: 0,
    machine,
    epoch,
    token,
    leaseMs: 60_000,
    startedAt: 1,
  };
}

function submit(script: string): Promise<Job> {
  return jobs.submit({ on: 'nobody', argv: ['sh', '-c', script] });
}

test('machines that reach for one job at the same moment agree on one of them, at every step', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const stores = await Promise.all(names.map((name, index) => storeOf(name, index)));
  const { client, id } = await submit('true');
  for (let step = 1; step <= 40; step += 2) {
    const verdicts = await Promise.all(
      stores.map((store, index) => store.proposeStep({ client, id }, claim(names[index] ?? ''), step)),
    );
    expect(verdicts.filter(({ counts }) => counts).length).toBe(1);
    expect(
      new Set(verdicts.map(({ now }) => (now.state?.state === 'running' ? now.state.machine : ''))).size,
    ).toBe(1);
    const queued = { state: 'queued', attempt: 1, retriesLeft: 0 } as const;
    const back = await Promise.all(
      stores.map((store) => store.proposeStep({ client, id }, queued, step + 1)),
    );
    expect(back.filter(({ counts }) => counts).length).toBe(1);
  }
}, 60_000);

test('a result that the node asked does not know yet is waited for', async () => {
  const machine = await storeOf('slow', 1);
  const key = await submit('true');
  await machine.proposeStep(key, claim('slow'), 1);
  const common = { attempt: 1, retriesLeft: 0, machine: 'slow', endedAt: 1 } as const;
  await machine.proposeStep(key, { ...common, state: 'ended', outcome: 'ended' }, 2);
  const waited = jobs.wait(key.id);
  const listed = jobs.list();
  await pause(300);
  const end = { kind: 'exited', exitCode: 4 } as const;
  await machine.writeEnd(key, 'slow', { attempt: 1, end, outputBytes: 0 });
  expect((await waited).result).toEqual(end);
  expect((await listed).find(({ id }) => id === key.id)?.result).toEqual(end);
});

test('a claim that was stored without a word to the machine is run by it, once', async () => {
  const log = folder.file('adopted');
  const server = new ExecServer();
  await using member = await FleetMember.join(
    { servers: cluster.urls },
    { name: 'forgetful', server, insecure: true, jobSlots: 1 },
  );
  const other = await storeOf('forgetful', 2);
  const key = await submit(`echo x >> ${log}`);
  await other.proposeStep(key, claim('forgetful', member.describe().epoch), 1);
  expect(await jobs.wait(key.id)).toMatchObject({
    attempt: 1,
    machine: 'forgetful',
    result: { kind: 'exited', exitCode: 0 },
  });
  expect(readFileSync(log, 'utf8')).toBe('x\n');
  await server.close();
});

test('cancelling while a job ends: one result, and both sides agree on it', async () => {
  const machine = await storeOf('quick', 0);
  for (let round = 0; round < 10; round += 1) {
    const key = await submit('true');
    const end = { kind: 'exited', exitCode: 0 } as const;
    await machine.proposeStep(key, claim('quick'), 1);
    await machine.writeEnd(key, 'quick', { attempt: 1, end, outputBytes: 0 });
    const ended = { attempt: 1, retriesLeft: 0, machine: 'quick', endedAt: 1 } as const;
    const [verdict, cancelled] = await Promise.all([
      machine.proposeStep(key, { ...ended, state: 'ended', outcome: 'ended' }, 2),
      jobs.cancel(key.id),
    ]);
    expect(verdict.counts).toBe(!cancelled);
    if (cancelled) {
      expect(verdict.now.state).toMatchObject({ state: 'running', cancel: true });
      await machine.proposeStep(
        key,
        { ...ended, state: 'ended', outcome: 'cancelled' },
        verdict.now.step + 1,
      );
    }
    expect((await jobs.wait(key.id)).result).toEqual(cancelled ? { kind: 'cancelled' } : end);
    expect((await (await storeOf(CLIENT, round)).state(key)).state?.state).toBe('ended');
  }
}, 60_000);
