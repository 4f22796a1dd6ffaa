// Needs: curl, bwrap
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { all } from '../contract/port-streams.contract.js';
import { listening } from '../contract/ports.contract.js';

const ROUND_TRIP_MS = 80;
const MIB = 1024 * 1024;

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

const far = (): Promise<FaultProxy> => FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });

/** The fewest of some attempts: a busy machine may need another round trip, but no machine can do with fewer. */
async function fewest(atMost: number, attempt: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && best > atMost; tries += 1) best = Math.min(best, await attempt());
  return best;
}

test('ports are listed in one round trip', async () => {
  const taken = await fewest(1, async () => {
    await using proxy = await far();
    await using env = await openEnvironment(proxy.url);
    const { port } = await listening(env);
    const before = proxy.roundTrips;
    expect(await env.ports()).toMatchObject([{ port }]);
    return proxy.roundTrips - before;
  });
  expect(taken).toBe(1);
});

test('a forwarded connection takes one round trip until its first answer', async () => {
  const taken = await fewest(1, async () => {
    await using proxy = await far();
    await using env = await openEnvironment(proxy.url);
    const { port } = await listening(env);
    await using forward = await env.forward(port, { localPort: 0 });
    const before = proxy.roundTrips;
    const client = createConnection({ host: '127.0.0.1', port: forward.localPort });
    client.write('x');
    await once(client, 'data');
    client.destroy();
    return proxy.roundTrips - before;
  });
  expect(taken).toBe(1);
});

test('a large answer takes few round trips: the window follows the line', { timeout: 60_000 }, async () => {
  const content = randomBytes(24 * MIB);
  const source = createServer((socket) => socket.on('error', () => undefined).end(content));
  source.listen(0, '127.0.0.1');
  await once(source, 'listening');
  const address = source.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  // With the first window alone it would be 192.
  const most = 32;
  const taken = await fewest(most, async () => {
    await using proxy = await far();
    await using env = await openEnvironment(proxy.url);
    const stream = await env.connect(port);
    stream.end();
    const before = proxy.roundTrips;
    expect((await all(stream)).equals(content)).toBe(true);
    return proxy.roundTrips - before;
  });
  source.close();
  expect(taken).toBeLessThanOrEqual(most);
});

test('a question about a host takes one round trip', async () => {
  const taken = await fewest(1, async () => {
    await using proxy = await far();
    let asked = 0;
    await using env = await openEnvironment(proxy.url, {
      sandbox: { policy: 'read-only', network: { allow: [], ask: true } },
      onNetworkRequest: () => {
        asked = proxy.roundTrips;
        return 'deny';
      },
    });
    const child = await env.start({
      argv: ['sh', '-c', 'curl -sS -o /dev/null -w "%{http_code}" http://a.example/'],
    });
    for await (const line of child.lines()) expect(line).toBe('403');
    return proxy.roundTrips - asked;
  });
  expect(taken).toBeLessThanOrEqual(1);
});
