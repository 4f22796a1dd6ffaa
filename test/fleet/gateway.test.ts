// Needs: nats-server
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { FleetMember } from '../../src/fleet/index.js';
import { ExecServer } from '../../src/server/index.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

const LINES = 1_000_000;
const TOKEN = 'a-token-of-sufficient-length';

const folder = new TestFolder();
let cluster: NatsCluster;
let server: ExecServer;
let member: FleetMember;
let gateway: ServerProcess;
beforeAll(async () => {
  cluster = await NatsCluster.start({ jetStream: false });
  server = new ExecServer();
  const options = { name: 'build-7', labels: { pool: 'ci' }, server, insecure: true };
  member = await FleetMember.join({ servers: cluster.urls }, options);
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
  await member.close();
  await server.close();
  await cluster.stop();
  folder[Symbol.dispose]();
});

async function startGateway(...args: string[]): Promise<ServerProcess> {
  const source = args.length > 0 ? args : ['--fleet', cluster.urls.join(','), '--insecure'];
  return await ServerProcess.start({ command: 'gateway', args: source });
}

test.each(['/e/build-7', '/e/?pool=ci&os=linux'])('a plain client reaches a machine at %s', async (path) => {
  await using environment = await RemoteEnvironment.connect({
    id: 'plain',
    dial: () => dialWebSocket(`${gateway.url}${path}`),
    resume: true,
  });
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  await cat.write(Buffer.alloc(500_000, 'x'));
  await cat.closeStdin();
  let bytes = 0;
  for await (const event of cat.events()) if (event.type === 'output') bytes += event.bytes.length;
  expect(bytes).toBe(500_000);
});

test.each([
  ['/', /machines are found at/],
  ['/e/', /machines are found at/],
  ['/e/no such', /machines are found at/],
  ['/e/*', /machines are found at/],
  ['/e/~all', /machines are found at/],
  ['/e/build-7.anyone', /machines are found at/],
  ['/e/%62uild-7', /machines are found at/],
  ['/e/build-7?pool=ci', /machines are found at/],
  ['/e/?name=*', /no machine meets name=\*/],
  ['/e/unknown', /No machine "unknown" is in the fleet.*[^.]$/],
  ['/e/?pool=gone', /no machine meets pool=gone/],
])('whoever asks for %s learns why that leads nowhere', async (path, reason) => {
  const channel = await dialWebSocket(`${gateway.url}${path}`);
  const said = await new Promise<string>((resolve) => {
    channel.open({ message: () => undefined, closed: ({ message }) => resolve(message) });
  });
  expect(said).toMatch(reason);
});

test('with a list of clients, only they get in, each with settings of its own', async () => {
  const hex = createHash('sha256').update(TOKEN).digest('hex');
  const servers = JSON.stringify(cluster.urls);
  writeFileSync(folder.file('alice.toml'), `servers = ${servers}\nidentity = "alice"\n`);
  const list = folder.file('clients.toml');
  writeFileSync(list, `[[clients]]\ntoken_sha256 = "${hex}"\nsettings = "alice.toml"\n`);
  await using guarded = await startGateway('--clients', list);
  const url = `${guarded.url}/e/build-7`;
  for (const authBearerToken of [undefined, 'another-token-of-some-length'])
    await expect(dialWebSocket(url, { authBearerToken })).rejects.toMatchObject({ data: { status: 401 } });
  await using environment = await RemoteEnvironment.connect({
    id: 'alice',
    dial: () => dialWebSocket(url, { authBearerToken: TOKEN }),
    resume: true,
  });
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
});

test('a gateway without authentication is refused, unless somebody insists', async () => {
  await expect(startGateway('--fleet', cluster.urls.join(','))).rejects.toThrow(
    /Add --clients or --token-file/,
  );
});

test('when a gateway is killed under output, its clients go on through another one', async () => {
  const first = await startGateway();
  const gateways = [first.url, gateway.url];
  let dials = 0;
  await using environment = await RemoteEnvironment.connect({
    id: 'resuming',
    dial: () => dialWebSocket(`${gateways[Math.min(dials++, 1)]}/e/?pool=ci`),
    resume: true,
  });
  const child = await environment.start({ argv: ['seq', String(LINES)] });
  const [hash, expected] = [createHash('sha256'), createHash('sha256')];
  let bytes = 0;
  for await (const event of child.events()) {
    if (event.type !== 'output') continue;
    if (bytes < 1_000_000 && bytes + event.bytes.length >= 1_000_000) void first.stop('SIGKILL');
    bytes += event.bytes.length;
    hash.update(event.bytes);
  }
  for (let from = 1; from <= LINES; from += 1000)
    expected.update(Array.from({ length: 1000 }, (_, index) => `${from + index}\n`).join(''));
  expect(hash.digest('hex')).toBe(expected.digest('hex'));
  expect(dials).toBeGreaterThan(1);
});
