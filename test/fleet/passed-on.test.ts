// Needs: nats-server
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { Fleet } from '../../src/fleet/index.js';
import { Bus } from '../../src/fleet/bus/bus.js';
import { StreamStore } from '../../src/fleet/store/index.js';
import { guardedFleet } from './guarded-fleet.js';

/*
 * JetStream answers a reading with the stored message, and NATS does not ask whether whoever reads may publish where the answer
 * should go: a machine that stores and reads something of its own could speak on every subject.
 */
const { of, as, good, folder } = guardedFleet();

const STREAM = 'ew-f-jobs';

/** Has JetStream say something on any subject. Resolves once it has. */
async function passOn(evil: NatsConnection, to: string, content: string | Uint8Array): Promise<void> {
  const own = 'ew.f.job.lease.evil.x';
  const meant = headers();
  meant.set('Nats-Expected-Stream', STREAM);
  meant.set('Ew-Id', 'forged');
  await evil.request(own, content, { headers: meant, timeout: 2_000 });
  const read = `$JS.API.DIRECT.GET.${STREAM}.${own}`;
  evil.publish(read, '', { reply: to });
  // The same node answers in order.
  await evil.request(read, '');
}

function description(change: object): object {
  return { ...good().describe(), epoch: Number.MAX_SAFE_INTEGER, ...change };
}

test('a machine cannot submit a job as a client', async () => {
  const evil = await as('evil');
  const owned = join(folder, 'owned');
  const order = { selector: '', argv: ['touch', owned], retries: 0, retryOn: 'lost', priority: 9 };
  const spec = JSON.stringify({ ...order, submittedAt: Date.now() });
  await passOn(evil, 'ew.f.job.spec.~any.alice.forged', spec);
  await passOn(evil, 'ew.f.job.spec.good.alice.forged', spec);
  await using alice = await Fleet.connect(of('alice'));
  const jobs = await alice.jobs();
  // It would have come first.
  const { id } = await jobs.submit({ on: 'name=good', argv: ['true'] });
  expect((await jobs.wait(id)).result).toMatchObject({ kind: 'exited', exitCode: 0 });
  expect((await jobs.list()).map((job) => job.id)).toEqual([id]);
  expect(existsSync(owned)).toBe(false);
});

test('a machine cannot report a result of another one', async () => {
  const evil = await as('evil');
  const bus = await Bus.connect(of('alice'), 'alice');
  const store = await StreamStore.open(bus, STREAM);
  const subject = 'ew.f.job.end.good.alice.x.1';
  await passOn(evil, subject, '{"attempt":1,"end":{"kind":"exited","exitCode":0},"outputBytes":0}');
  await expect.poll(async () => (await store.get(subject))?.seq).toBeGreaterThan(0);
  expect((await store.get(subject))?.data).toHaveLength(0);
  await bus.close('the test is over');
});

test('a machine cannot describe another one', async () => {
  const evil = await as('evil');
  const forged = JSON.stringify(description({ state: 'draining' }));
  let asked = 0;
  evil.subscribe('ew.f.who', {
    callback: (_, { reply = '' }) => {
      asked += 1;
      const token = reply.split('.').at(-1);
      evil.publish(`ew.f.a.evil.alice.${token}`, forged);
      void passOn(evil, `ew.f.a.good.alice.${token}`, forged);
    },
  });
  await evil.flush();
  await using alice = await Fleet.connect(of('alice'));
  for (let look = 0; look < 5; look += 1)
    expect((await alice.list()).map(({ name, state }) => [name, state])).toEqual([['good', 'ready']]);
  expect(asked).toBe(5);
});

test('a machine cannot announce another one', async () => {
  const evil = await as('evil');
  await using alice = await Fleet.connect(of('alice'));
  await using root = await Fleet.connect(of('root'));
  const events = alice.watch()[Symbol.asyncIterator]();
  await events.next();
  const { epoch } = good().describe();
  await passOn(evil, 'ew.f.news.good', JSON.stringify({ type: 'left', machine: description({ epoch }) }));
  await root.setState('good', 'cordoned');
  expect((await events.next()).value).toMatchObject({ type: 'changed', machine: { state: 'cordoned' } });
  await root.setState('good', 'ready');
  await events.return(undefined);
});

test('a machine cannot speak on the channel of a client and another machine', async () => {
  const evil = await as('evil');
  await using alice = await Fleet.connect(of('alice'));
  // With a second connection of hers we hear what only she and the machine know.
  const subjects = new Set<string>();
  (await as('alice')).subscribe('ew.f.o.*.alice.>', {
    callback: (_, { subject }) => void subjects.add(subject),
  });
  let dials = 0;
  await using environment = await RemoteEnvironment.connect({
    id: 'good',
    dial: () => {
      dials += 1;
      return alice.dial('good');
    },
    resume: true,
  });
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const said = cat.events()[Symbol.asyncIterator]();
  await cat.write('one\n');
  await said.next();
  const [fromMachine = ''] = subjects;
  const reset = Buffer.alloc(26);
  reset[0] = 3;
  for (const subject of [fromMachine, fromMachine.replace('.o.', '.i.')]) await passOn(evil, subject, reset);
  await cat.write('two\n');
  const { value } = await said.next();
  expect(value?.type === 'output' && Buffer.from(value.bytes).toString()).toBe('two\n');
  expect(dials).toBe(1);
});

test('a machine that enters itself into the registry cannot remove others', async () => {
  const evil = await as('evil');
  const rollup = headers();
  rollup.set('Nats-Rollup', 'all');
  const answer = await evil.request('$KV.ew-f-machines.evil', '{}', { headers: rollup, timeout: 2_000 });
  expect(answer.json()).toMatchObject({ error: { description: 'rollup not permitted' } });
  await using alice = await Fleet.connect(of('alice'));
  expect((await alice.listRegistered()).map(({ name }) => name)).toEqual(['good']);
});
