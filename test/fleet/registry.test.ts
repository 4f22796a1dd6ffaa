// Needs: nats-server
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { Fleet, FleetMember, parseSelector } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';

let cluster: NatsCluster;
let fleet: Fleet;
const opened: AsyncDisposable[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start();
  fleet = await Fleet.connect({ servers: cluster.urls });
});
afterAll(async () => {
  await fleet.close();
  await cluster.stop();
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

async function join(name: string, labels: Record<string, string> = {}): Promise<FleetMember> {
  const server = new ExecServer();
  const member = await FleetMember.join({ servers: cluster.urls }, { name, labels, server, insecure: true });
  opened.push(server, member);
  return member;
}

async function registered(selector = ''): Promise<string[]> {
  const machines = await fleet.listRegistered(parseSelector(selector)).catch(() => []);
  return machines.map(({ name, state }) => `${name} ${state}`);
}

test('the registry knows who is there, follows changes, and forgets who leaves', async () => {
  const a = await join('a', { pool: 'ci' });
  await join('b');
  await expect.poll(() => registered(), { timeout: 20_000 }).toEqual(['a ready', 'b ready']);
  expect(await registered('pool=ci')).toEqual(['a ready']);
  const [entry] = await fleet.listRegistered(parseSelector('name=a'));
  const changing = { seenAt: 0, upMs: 0, load: 0 };
  expect({ ...entry, ...changing }).toEqual({ ...a.describe(), ...changing });
  await fleet.setState('a', 'draining');
  await expect.poll(() => registered()).toEqual(['a draining', 'b ready']);
  await a.close();
  expect(await registered()).toEqual(['b ready']);
});

test('a machine that neither NATS nor the registry knows is refused at once', async () => {
  const a = await join('a');
  // Everything that is loaded at the first use is.
  await expect(fleet.dial('nobody')).rejects.toMatchObject({ code: 'notConnected' });
  const took = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now();
    await expect(work()).rejects.toMatchObject({ message: expect.stringMatching(/No machine "nobody"/) });
    return performance.now() - begun;
  };
  const times = [await took(() => fleet.dial('nobody')), await took(() => fleet.describe('nobody'))];
  for (let count = 0; count < 8; count += 1) times.push(await took(() => fleet.dial('nobody')));
  // Without the registry it is half a second.
  expect(Math.min(...times)).toBeLessThan(100);
  await expect(fleet.dial('a')).resolves.toBeDefined();
  await a.close();
  await expect(fleet.dial('a')).rejects.toMatchObject({ code: 'notConnected' });
});

test('a machine that the registry knows and nobody reaches is waited for, by name and by label', async () => {
  const nats = await connect({ servers: cluster.urls });
  const here = (await join('here', { pool: 'other' })).describe();
  // It was there a moment ago, and looks for another NATS node.
  const entry = { headers: headers(), timeout: 2000 };
  entry.headers.set('Nats-Expected-Stream', 'KV_ew-default-machines');
  const away = { ...here, name: 'away', labels: { pool: 'away' } };
  await nats.request('$KV.ew-default-machines.away', JSON.stringify(away), entry);
  await nats.close();
  const reached = [
    fleet.dial('away').then(({ label }) => label),
    fleet.describe('away').then(({ name }) => name),
    fleet.choose(parseSelector('pool=away')).then(({ name }) => name),
  ];
  // It takes longer to join than the fleet waits for a machine that nobody knows.
  await join('away', { pool: 'away' });
  expect(await Promise.all(reached)).toEqual(['fleet:away', 'away', 'away']);
});

test('a roll call is over soon after all registered machines have answered, and waits for one that has not', async () => {
  for (const name of ['a', 'b', 'c']) await join(name);
  const timed = async (): Promise<{ names: string[]; ms: number }> => {
    const begun = performance.now();
    const names = (await fleet.list()).map(({ name }) => name);
    return { names, ms: performance.now() - begun };
  };
  const lists = [];
  for (let count = 0; count < 5; count += 1) lists.push(await timed());
  expect(lists.map(({ names }) => names)).toEqual(lists.map(() => ['a', 'b', 'c']));
  // Waiting for whoever might still answer takes 250 ms.
  expect(Math.min(...lists.map(({ ms }) => ms))).toBeLessThan(240);
  const nats = await connect({ servers: cluster.urls });
  const ghost = { headers: headers(), timeout: 2000 };
  ghost.headers.set('Nats-Expected-Stream', 'KV_ew-default-machines');
  await nats.request('$KV.ew-default-machines.ghost', '{}', ghost);
  const { names, ms } = await timed();
  await nats.close();
  expect(names).toEqual(['a', 'b', 'c']);
  expect(ms).toBeGreaterThan(190);
});

test('entries are on three nodes, expire after 30 seconds, and survive the loss of a node', async () => {
  await join('a');
  await expect.poll(() => registered(), { timeout: 20_000 }).toEqual(['a ready']);
  const nats = await connect({ servers: cluster.urls });
  const { config, cluster: place } = await (await jetstreamManager(nats)).streams.info(
    'KV_ew-default-machines',
  );
  await nats.close();
  expect(config).toMatchObject({ num_replicas: 3, storage: 'memory', max_age: 30_000_000_000 });
  const leader = cluster.nodes.find(({ name }) => name === place?.leader);
  if (!leader) throw new Error('no leader');
  await cluster.kill(leader);
  try {
    await expect.poll(() => registered(), { timeout: 20_000 }).toEqual(['a ready']);
  } finally {
    await cluster.restart(leader);
  }
});

test('without JetStream there is no registry, and everything else works', async () => {
  await using plain = await NatsCluster.start({ size: 1, jetStream: false });
  const server = new ExecServer();
  opened.push(server);
  opened.push(await FleetMember.join({ servers: plain.urls }, { name: 'a', server, insecure: true }));
  await using other = await Fleet.connect({ servers: plain.urls });
  expect((await other.list()).map(({ name }) => name)).toEqual(['a']);
  await expect(other.listRegistered()).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/no JetStream/),
  });
});
