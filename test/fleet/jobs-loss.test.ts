// Needs: nats-server
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { Fleet, type Job, type Jobs } from '../../src/fleet/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { pidsWithArgument, TestFolder } from '../harness/processes.js';

/** Short, so that the test is; long enough for a busy machine to renew it in time. */
const LEASE = '8s';

const folder = new TestFolder();
let cluster: NatsCluster;
let fleet: Fleet;
let jobs: Jobs;
const machines: ServerProcess[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start();
  fleet = await Fleet.connect({ servers: cluster.urls });
  jobs = await fleet.jobs();
});
afterAll(async () => {
  await Promise.all(machines.map((machine) => machine.stop('SIGKILL')));
  await fleet.close();
  await cluster.stop();
  folder[Symbol.dispose]();
});

async function join(name: string, label: string): Promise<ServerProcess> {
  const where = ['--fleet', cluster.urls.join(','), '--insecure', '--name', name, '--label', label];
  const machine = await ServerProcess.start({ args: [...where, '--job-slots', '1', '--job-lease', LEASE] });
  machines.push(machine);
  return machine;
}

/** Runs until a file says otherwise. Two at a time are impossible: the second one would exit with 99. */
function exclusive(name: string): string[] {
  const work = `echo started >> ${folder.file(name)}; until [ -e ${folder.file(name)}.end ]; do sleep 0.05; done; :`;
  return ['flock', '-n', '-E', '99', folder.file(`${name}.lock`), 'sh', '-c', work, mark(name)];
}

function mark(name: string): string {
  return `${folder.path}-${name}`;
}

async function runsOn(job: Job, machine: string): Promise<void> {
  await until(async () => {
    const now = await jobs.describe(job.id);
    return now.state === 'running' && now.machine === machine;
  });
}

async function startsTwice(name: string): Promise<void> {
  await until(() => readFileSync(folder.file(name), 'utf8') === 'started\nstarted\n');
}

/** Tests that run side by side have no `expect.poll`. */
async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isTrue())) await pause(50);
}

describe.concurrent('a machine that is lost', { timeout: 90_000 }, () => {
  test('kill -9 without retries: contact is lost, and no exit is invented', async ({ expect }) => {
    const machine = await join('k1', 'k');
    const job = await jobs.submit({ on: 'k', argv: exclusive('once') });
    await folder.appears('once');
    await machine.stop('SIGKILL');
    expect(await jobs.wait(job.id)).toMatchObject({
      state: 'ended',
      machine: 'k1',
      result: { kind: 'contactLost' },
    });
    expect(pidsWithArgument(mark('once'))).toEqual([]);
  });

  test('kill -9 with retries: it runs again elsewhere, never twice at once', async ({ expect }) => {
    const first = await join('r1', 'r');
    const job = await jobs.submit({ on: 'r', argv: exclusive('again'), retries: 1 });
    await runsOn(job, 'r1');
    await folder.appears('again');
    await join('r2', 'r');
    await first.stop('SIGKILL');
    await runsOn(job, 'r2');
    await startsTwice('again');
    writeFileSync(`${folder.file('again')}.end`, '');
    expect(await jobs.wait(job.id)).toMatchObject({
      machine: 'r2',
      attempt: 2,
      result: { kind: 'exited', exitCode: 0 },
    });
  });

  test('a stopped machine has nothing running when another one begins, and reports nothing when it goes on', async ({
    expect,
  }) => {
    const first = await join('s1', 's');
    const job = await jobs.submit({ on: 's', argv: exclusive('stopped'), retries: 1 });
    await runsOn(job, 's1');
    await folder.appears('stopped');
    await join('s2', 's');
    signalOne(first.pid, 'SIGSTOP');
    try {
      await runsOn(job, 's2');
      await startsTwice('stopped');
    } finally {
      signalOne(first.pid, 'SIGCONT');
    }
    // It has looked around by the time it takes a job again.
    const other = await jobs.submit({ on: 'name=s1', argv: ['true'] });
    expect((await jobs.wait(other.id)).result).toEqual({ kind: 'exited', exitCode: 0 });
    expect(await jobs.describe(job.id)).toMatchObject({ state: 'running', machine: 's2', attempt: 2 });
    writeFileSync(`${folder.file('stopped')}.end`, '');
    expect(await jobs.wait(job.id)).toMatchObject({ machine: 's2', result: { kind: 'exited', exitCode: 0 } });
  });
});
