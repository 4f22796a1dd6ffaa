// Needs: nats-server
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  Fleet,
  FleetMember,
  type JobRequest,
  type Jobs,
  type JoinOptions,
  prepareFleet,
} from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { TestFolder } from '../harness/processes.js';

const folder = new TestFolder();
let cluster: NatsCluster;
let fleet: Fleet;
let jobs: Jobs;
const opened: AsyncDisposable[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start();
  await prepareFleet({ servers: cluster.urls });
  fleet = await Fleet.connect({ servers: cluster.urls });
  jobs = await fleet.jobs();
});
afterAll(async () => {
  await fleet.close();
  await cluster.stop();
  folder[Symbol.dispose]();
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

async function join(name: string, options: Partial<JoinOptions> = {}): Promise<FleetMember> {
  const server = new ExecServer();
  const member = await FleetMember.join(
    { servers: cluster.urls },
    { name, server, insecure: true, jobSlots: 1, ...options },
  );
  opened.push(server, member);
  return member;
}

async function printed(id: string, follow = false): Promise<string> {
  let text = '';
  for await (const piece of jobs.output(id, { follow }))
    text += piece.type === 'output' ? Buffer.from(piece.bytes).toString() : `[${piece.lostBytes} lost]`;
  return text;
}

function stateOf(pid: number): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? '';
  } catch {
    return 'gone';
  }
}

const sh = (script: string, request: Partial<JobRequest> = {}): JobRequest => ({
  on: '',
  argv: ['sh', '-c', script],
  ...request,
});

test('a job runs on a machine that matches, and has one result', async () => {
  await join('a', { labels: { gpu: 'yes' } });
  await join('b');
  const job = await jobs.submit(sh('echo out; echo err >&2; exit 3', { on: 'gpu', name: 'train' }));
  expect(job).toMatchObject({ state: 'queued', attempt: 1, name: 'train', on: 'gpu' });
  const ended = await jobs.wait(job.id);
  expect(ended).toMatchObject({
    state: 'ended',
    machine: 'a',
    result: { kind: 'exited', exitCode: 3 },
    outputBytes: 8,
  });
  expect((await printed(job.id)).split('\n').toSorted()).toEqual(['', 'err', 'out']);
  expect(await jobs.describe(job.id.slice(0, 6))).toEqual(ended);
});

test('a queued job says what it waits for, and is taken as soon as somebody can', async () => {
  await join('a', { labels: { pool: 'ci' }, jobSlots: 0 });
  const job = await jobs.submit(sh('echo hi', { on: 'pool=ci,gpu=h100' }));
  expect(await jobs.whyQueued(job)).toBe(
    'None of 1 machines matches "pool=ci,gpu=h100": no machine meets gpu=h100.',
  );
  const other = await jobs.submit(sh('true', { on: 'pool=ci' }));
  expect(await jobs.whyQueued(other)).toBe(
    'The only machine that matches "pool=ci" is not taking jobs: start it with --job-slots.',
  );
  await jobs.cancel(other.id);
  await join('b', { labels: { pool: 'ci', gpu: 'h100' } });
  expect(await jobs.wait(job.id)).toMatchObject({ machine: 'b', result: { kind: 'exited', exitCode: 0 } });
  expect(await jobs.whyQueued(await jobs.describe(job.id))).toBe(undefined);
});

test('a machine runs as many as it has room for, the most urgent first', async () => {
  const log = folder.file('order');
  const gate = folder.file('gate');
  await join('a');
  const first = await jobs.submit(sh(`echo first >> ${log}; until [ -e ${gate} ]; do sleep 0.02; done`));
  await expect.poll(async () => (await jobs.describe(first.id)).state).toBe('running');
  const low = await jobs.submit(sh(`echo low >> ${log}`, { priority: -1 }));
  const next = await jobs.submit(sh(`echo next >> ${log}`));
  const high = await jobs.submit(sh(`echo high >> ${log}`, { priority: 5 }));
  expect(await jobs.whyQueued(next)).toBe('The only machine is busy; 1 job comes first.');
  writeFileSync(gate, '');
  await Promise.all([low, next, high].map(({ id }) => jobs.wait(id)));
  expect(readFileSync(log, 'utf8')).toBe('first\nhigh\nnext\nlow\n');
});

test('of several machines, exactly one takes a job', async () => {
  const log = folder.file('once');
  await Promise.all(['a', 'b', 'c'].map((name) => join(name, { jobSlots: 2 })));
  const submitted = await Promise.all(
    Array.from({ length: 30 }, (_, index) => jobs.submit(sh(`echo ${index} >> ${log}`, { on: 'os=linux' }))),
  );
  const ended = await Promise.all(submitted.map(({ id }) => jobs.wait(id)));
  expect(ended.map(({ result, attempt }) => ({ result, attempt }))).toEqual(
    submitted.map(() => ({ result: { kind: 'exited', exitCode: 0 }, attempt: 1 })),
  );
  const lines = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  expect(lines.toSorted((a, b) => a - b)).toEqual(submitted.map((_, index) => index));
});

test('a limit holds for all machines together', async () => {
  const log = folder.file('limit');
  await Promise.all(['a', 'b', 'c'].map((name) => join(name, { jobSlots: 4 })));
  const limit = { name: 'database', count: 2 };
  const submitted = await Promise.all(
    Array.from({ length: 8 }, () =>
      jobs.submit(sh(`echo + >> ${log}; sleep 0.1; echo - >> ${log}`, { limit })),
    ),
  );
  await Promise.all(submitted.map(({ id }) => jobs.wait(id)));
  let running = 0;
  let most = 0;
  for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
    running += line === '+' ? 1 : -1;
    most = Math.max(most, running);
  }
  expect(running).toBe(0);
  expect(most).toBeLessThanOrEqual(2);
});

test('cancelling ends a job that waits, and one that runs with all it has started', async () => {
  const queued = await jobs.submit(sh('true', { on: 'nobody' }));
  expect(await jobs.cancel(queued.id)).toBe(true);
  expect((await jobs.wait(queued.id)).result).toEqual({ kind: 'cancelled' });
  const pid = folder.file('pid');
  await join('a');
  const running = await jobs.submit(sh(`setsid sh -c 'echo $$ > ${pid}; exec sleep 1000' & wait`));
  await expect
    .poll(() => existsSync(pid) && readFileSync(pid, 'utf8').trim(), { timeout: 10_000 })
    .toMatch(/^\d+$/);
  const child = Number(readFileSync(pid, 'utf8'));
  expect(await jobs.cancel(running.id)).toBe(true);
  expect((await jobs.wait(running.id)).result).toEqual({ kind: 'cancelled' });
  // It has been killed. A busy machine lets it die a moment later, and whoever inherited it may not have noticed yet.
  await expect.poll(() => stateOf(child)).toMatch(/^(gone|Z)$/);
  expect(await jobs.cancel(running.id)).toBe(false);
});

test('a deadline ends a job that was not begun, and one that runs', async () => {
  const waiting = await jobs.submit(sh('true', { on: 'nobody', deadlineMs: 100 }));
  await join('a');
  const running = await jobs.submit(sh('sleep 1000', { deadlineMs: 1500 }));
  expect((await jobs.wait(running.id)).result).toMatchObject({ kind: 'timedOut' });
  expect((await jobs.wait(waiting.id)).result).toEqual({ kind: 'expired' });
});

test('a program that fails is repeated only if that is wanted, and by hand', async () => {
  const log = folder.file('retries');
  await join('a');
  const script = `echo x >> ${log}; exit 1`;
  const once = await jobs.submit(sh(script, { retries: 2 }));
  expect(await jobs.wait(once.id)).toMatchObject({ attempt: 1, result: { kind: 'exited', exitCode: 1 } });
  expect(await jobs.retry(once.id)).toBe(true);
  expect(await jobs.wait(once.id)).toMatchObject({ attempt: 2, result: { kind: 'exited', exitCode: 1 } });
  await join('b');
  const often = await jobs.submit(sh(script, { retries: 1, retryOn: 'failure' }));
  expect(await jobs.wait(often.id)).toMatchObject({ attempt: 2, retriesLeft: 0 });
  expect(readFileSync(log, 'utf8')).toBe('x\n'.repeat(4));
  const missing = await jobs.submit({ on: '', argv: ['/no/such/program'] });
  expect((await jobs.wait(missing.id)).result).toEqual({
    kind: 'failed',
    message: expect.stringMatching(/no program/),
  });
});

test('a machine that is drained or leaves takes no job; what it ran goes elsewhere where allowed', async () => {
  const a = await join('a', { jobSlots: 2 });
  const begun = ['repeated', 'lost'].map((name) => folder.file(name));
  const repeated = await jobs.submit(sh(`touch ${begun[0]}; sleep 1000`, { retries: 1 }));
  const lost = await jobs.submit(sh(`touch ${begun[1]}; sleep 1000`));
  // What was not begun would go back to the queue.
  await expect.poll(() => begun.every((file) => existsSync(file)), { timeout: 10_000 }).toBe(true);
  expect(a.describe().jobs?.running).toBe(2);
  await fleet.setState('a', 'draining');
  const waiting = await jobs.submit(sh('true'));
  expect(await jobs.whyQueued(waiting)).toBe('The only machine is cordoned or draining.');
  await a.close();
  expect((await jobs.wait(lost.id)).result).toEqual({ kind: 'contactLost' });
  await join('b', { jobSlots: 2 });
  expect((await jobs.wait(waiting.id)).machine).toBe('b');
  await expect
    .poll(() => jobs.describe(repeated.id))
    .toMatchObject({ state: 'running', machine: 'b', attempt: 2 });
  await jobs.cancel(repeated.id);
});

test('output is followed while it is printed, and readable when the machine is gone', async () => {
  const a = await join('a');
  const job = await jobs.submit(sh('seq 1 50000; sleep 0.3; echo last'));
  const expected = `${Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join('')}last\n`;
  expect((await printed(job.id, true)) === expected).toBe(true);
  await a.close();
  expect((await printed(job.id)) === expected).toBe(true);
});

test('the leader of the queue is killed: nothing that was acknowledged is lost, nothing runs twice', async () => {
  const log = folder.file('leader');
  await join('a', { jobSlots: 3 });
  await join('b', { jobSlots: 3 });
  const nats = await connect({ servers: cluster.urls });
  const { cluster: place } = await (await jetstreamManager(nats)).streams.info('ew-default-jobs');
  await nats.close();
  const leader = cluster.nodes.find(({ name }) => name === place?.leader);
  if (!leader) throw new Error('no leader');
  const submitted: string[] = [];
  const submit = async (index: number): Promise<void> => {
    submitted.push((await jobs.submit(sh(`echo ${index} >> ${log}; sleep 0.05`))).id);
  };
  for (let index = 0; index < 10; index += 1) await submit(index);
  await cluster.kill(leader);
  try {
    for (let index = 10; index < 20; index += 1) await submit(index);
    const ended = await Promise.all(submitted.map((id) => jobs.wait(id)));
    const outcomes = ended.map(({ result, attempt }) => ({ kind: result?.kind, attempt }));
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: 'exited', attempt: 1 })));
  } finally {
    await cluster.restart(leader);
  }
  const lines = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  expect(lines.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 20 }, (_, index) => index));
}, 120_000);
