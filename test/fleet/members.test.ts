// Needs: nats-server
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { fanOut, Fleet, type FleetEvent, FleetMember, parseSelector } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';

let cluster: NatsCluster;
let fleet: Fleet;
const opened: AsyncDisposable[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start({ size: 2, jetStream: false });
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

async function names(selector: string): Promise<string[]> {
  return (await fleet.list(parseSelector(selector))).map(({ name }) => name);
}

test('a name that is taken is refused, and the machine that has it does not notice', async () => {
  const first = await join('one');
  await expect(join('one')).rejects.toMatchObject({
    code: 'invalidConfiguration',
    message: 'A machine named "one" is in the fleet already. Choose another --name, or stop it first.',
  });
  expect((await fleet.describe('one')).epoch).toBe(first.describe().epoch);
});

test('of several that join at once under a name, exactly one gets it', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => join('one')));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  // The others are still leaving, and whoever asks for a name may hear one of them.
  await expect.poll(() => names('name=one')).toEqual(['one']);
});

test('a name is free as soon as its machine has left', async () => {
  const first = await join('one');
  await first.close();
  await join('one');
});

test('selectors choose by labels, with AND and NOT', async () => {
  await join('a', { pool: 'ci', gpu: 'a100' });
  await join('b', { pool: 'ci' });
  await join('c', { pool: 'dev', gpu: 'h100' });
  // The node of the client may learn a moment later whom to ask.
  await expect.poll(() => names('')).toEqual(['a', 'b', 'c']);
  expect(await names('pool=ci')).toEqual(['a', 'b']);
  expect(await names('pool=ci&gpu')).toEqual(['a']);
  expect(await names('!gpu')).toEqual(['b']);
  expect(await names('gpu=a100|h100,pool!=ci')).toEqual(['c']);
  expect(await names('name=a|c,os=linux')).toEqual(['a', 'c']);
  await expect(fleet.choose(parseSelector('pool=ci,gpu=h100'))).rejects.toMatchObject({
    message: 'None of 3 machines matches "pool=ci,gpu=h100": no machine meets all conditions at once.',
  });
  expect(() => parseSelector('=x')).toThrow(/is not a condition/);
});

test('selectors pass a cordoned machine over; its name still reaches it', async () => {
  await join('a', { pool: 'ci' });
  expect(await fleet.setState('a', 'cordoned')).toMatchObject({ state: 'cordoned' });
  await expect(fleet.choose(parseSelector('pool=ci'))).rejects.toMatchObject({
    message: 'The only machine that matches "pool=ci" is cordoned or draining.',
  });
  await using environment = await RemoteEnvironment.connect({
    id: 'a',
    dial: () => fleet.dial('a'),
    resume: true,
  });
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
  await fleet.setState('a', 'ready');
  expect((await fleet.choose(parseSelector('pool=ci'))).name).toBe('a');
});

test('a machine that is drained starts nothing new, and what runs goes on', async () => {
  await join('a');
  await using environment = await RemoteEnvironment.connect({
    id: 'a',
    dial: () => fleet.dial('a'),
    resume: true,
  });
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  expect(await fleet.setState('a', 'draining')).toMatchObject({ state: 'draining', processes: 1 });
  await expect(environment.start({ argv: ['true'] })).rejects.toMatchObject({ code: 'machineDraining' });
  await cat.write(Buffer.from('still here'));
  await cat.closeStdin();
  expect(await cat.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  await expect.poll(async () => (await fleet.describe('a')).processes).toBe(0);
  await fleet.setState('a', 'ready');
  expect((await environment.run(['true'])).exitCode).toBe(0);
});

test('watching tells who joins, changes and leaves at once', async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  const told = new Map<string, () => void>();
  const hears = (what: string): Promise<void> =>
    seen.includes(what) ? Promise.resolve() : new Promise((resolve) => told.set(what, resolve));
  const watching = (async () => {
    for await (const { type, machine } of fleet.watch({ signal: stop.signal }) as AsyncIterable<FleetEvent>) {
      seen.push(`${machine.name} ${type}`);
      told.get(`${machine.name} ${type}`)?.();
    }
  })();
  const a = await join('a');
  await hears('a joined');
  await fleet.setState('a', 'cordoned');
  await hears('a changed');
  const begun = performance.now();
  await a.close();
  await hears('a left');
  expect(performance.now() - begun).toBeLessThan(1500);
  stop.abort();
  await watching;
  expect(seen).toEqual(['a joined', 'a changed', 'a left']);
});

test('a command on all machines: in order per machine, an end for each', async () => {
  await Promise.all(['a', 'b', 'c'].map((name) => join(name)));
  const lines: Record<string, string> = {};
  const ends: Record<string, unknown> = {};
  const run = { argv: ['sh', '-c', 'seq 1 2000; exit 3'] };
  for await (const event of fanOut(fleet, ['a', 'b', 'c', 'nobody'], { run, maxParallel: 2 })) {
    const { machine } = event;
    if (event.type === 'output')
      lines[machine] = (lines[machine] ?? '') + Buffer.from(event.bytes).toString();
    if (event.type === 'ended') ends[machine] = event.end;
    if (event.type === 'failed') ends[machine] = event.error.message;
  }
  const expected = Array.from({ length: 2000 }, (_, index) => `${index + 1}\n`).join('');
  expect(lines).toEqual({ a: expected, b: expected, c: expected });
  const end = { kind: 'exited', exitCode: 3 };
  expect(ends).toEqual({
    a: end,
    b: end,
    c: end,
    nobody: 'No machine "nobody" is in the fleet; see `execwire fleet ls`.',
  });
});

test('whoever stops reading a fan-out ends what it has started', async () => {
  const member = await join('a');
  for await (const event of fanOut(fleet, ['a'], { run: { argv: ['sleep', '1000'] } })) {
    if (event.type === 'started') break;
  }
  await expect.poll(() => member.describe().processes).toBe(0);
});

test('fail-fast skips the machines that have not begun', async () => {
  await Promise.all(['a', 'b'].map((name) => join(name)));
  const types: string[] = [];
  const run = { argv: ['false'] };
  for await (const { machine, type } of fanOut(fleet, ['a', 'b'], { run, maxParallel: 1, failFast: true }))
    types.push(`${machine} ${type}`);
  expect(types).toEqual(['a started', 'a ended', 'b skipped']);
});
