// Needs: nats-server
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess } from '../../src/contract/index.js';
import { Fleet, FleetMember } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';

/** Enough to be under way while a node is lost and another one found. */
const LINES = 2_000_000;

let cluster: NatsCluster;
const opened: AsyncDisposable[] = [];
beforeAll(async () => {
  cluster = await NatsCluster.start({ jetStream: false });
});
afterAll(() => cluster.stop());
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
  for (const node of cluster.nodes) {
    cluster.signal(node, 'SIGCONT');
    if (node.child?.exitCode !== null || node.child.signalCode !== null) await cluster.restart(node);
  }
});

function keep<Resource extends AsyncDisposable>(resource: Resource): Resource {
  opened.push(resource);
  return resource;
}

/** A machine on the first node, and a client on the second. Counts how often the client had to dial. */
async function connect(): Promise<{ environment: RemoteEnvironment; dials: () => number }> {
  const [first = '', second = ''] = cluster.urls;
  const server = keep(new ExecServer());
  keep(await FleetMember.join({ servers: [first] }, { name: 'm', server, insecure: true }));
  const fleet = keep(await Fleet.connect({ servers: [second] }));
  let dials = 0;
  const dial = async () => {
    dials += 1;
    return await fleet.dial('m');
  };
  return {
    environment: keep(await RemoteEnvironment.connect({ id: 'm', dial, resume: true })),
    dials: () => dials,
  };
}

async function digest(process: ExecProcess, enough: (bytes: number) => void): Promise<string> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const event of process.events()) {
    if (event.type !== 'output') continue;
    hash.update(event.bytes);
    bytes += event.bytes.length;
    enough(bytes);
  }
  return hash.digest('hex');
}

function expected(): string {
  const hash = createHash('sha256');
  for (let from = 1; from <= LINES; from += 1000)
    hash.update(Array.from({ length: 1000 }, (_, index) => `${from + index}\n`).join(''));
  return hash.digest('hex');
}

const losses = [
  ['kill -9 of the node of the client', 1, 'SIGKILL'],
  ['kill -9 of the node of the machine', 0, 'SIGKILL'],
  ['a stopped node of the client', 1, 'SIGSTOP'],
  ['a stopped node of the machine', 0, 'SIGSTOP'],
] as const;

test.each(losses)('output and input survive %s, without another session', async (_, index, signal) => {
  const { environment, dials } = await connect();
  const node = cluster.nodes[index];
  if (!node?.child) throw new Error('no such node');
  const out = await environment.start({ argv: ['seq', String(LINES)] });
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const strike = { done: false };
  const output = digest(out, (bytes) => {
    if (strike.done || bytes < 1_000_000) return;
    strike.done = true;
    cluster.signal(node, signal);
  });
  const echoed = digest(cat, () => undefined);
  const hash = createHash('sha256');
  while (!strike.done) {
    const text = `typed before ${Math.random()}\n`;
    hash.update(text);
    await cat.write(Buffer.from(text));
  }
  for (let count = 0; count < 50; count += 1) {
    const text = `typed after ${count}\n`;
    hash.update(text);
    await cat.write(Buffer.from(text));
  }
  await cat.closeStdin();
  expect(await echoed).toBe(hash.digest('hex'));
  expect(await output).toBe(expected());
  expect(dials()).toBe(1);
});

test('a node that is stopped and goes on later changes nothing', async () => {
  const { environment, dials } = await connect();
  const node = cluster.nodes[0];
  if (!node) throw new Error('no such node');
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const echoed = digest(cat, () => undefined);
  const hash = createHash('sha256');
  const type = async (text: string): Promise<void> => {
    hash.update(text);
    await cat.write(Buffer.from(text));
  };
  for (let count = 0; count < 100; count += 1) await type(`before ${count}\n`);
  cluster.signal(node, 'SIGSTOP');
  for (let count = 0; count < 100; count += 1) await type(`during ${count}\n`);
  // The machine has found another node. What the first one still holds arrives late.
  cluster.signal(node, 'SIGCONT');
  for (let count = 0; count < 100; count += 1) await type(`after ${count}\n`);
  await cat.closeStdin();
  expect(await echoed).toBe(hash.digest('hex'));
  expect(dials()).toBe(1);
});
