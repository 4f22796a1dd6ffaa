import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StdioServer } from '../../testkit/server-process.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { execValues } from './confined-values.js';
import { baseSeed, FuzzRun } from './fuzz-run.js';
import { FuzzedServer, noneWorksIn, schemasOf } from './fuzzed-server.js';
import { handshaken, openWire } from './wires.js';

const schemas = schemasOf('exec-server');
/** One starts a program each time, the other waits for a refused connection. */
const rare = ['fs/search', 'http/request'];
const codes = new Set([-32600, -32601, -32602, -32603, -32004, -32010, -32001]);
/** Some 85,000 here, the rest to the other protocols. */
const WS_CONNECTIONS = 5;
const PER_WS_CONNECTION = 8_000;
const OVER_UNIX = 22_000;
const OVER_STDIO = 23_000;
const WARM_UP = 1_500;
const LIMIT_MS = 120_000;

describe('requests made up from the schema of the exec server', () => {
  const server = new FuzzedServer();
  const fuzz = async (url: string, seed: number, count: number): Promise<void> => {
    const wire = await openWire(url);
    await handshaken(wire);
    const base = server.folder.path;
    const run = new FuzzRun({ wire, seed, count, base, values: execValues(base), schemas, codes, rare });
    const { answered, refused } = await run.play();
    expect(answered).toBe(count);
    // Made-up requests that were all refused would prove nothing.
    expect(refused).toBeLessThan(count * 0.9);
    wire.cut();
  };

  beforeAll(async () => {
    await server.start();
    // What is opened once and for good is open after a connection that did a bit of everything.
    await fuzz(server.url, baseSeed + 999, WARM_UP);
    await server.rememberIdle();
  }, LIMIT_MS);
  afterAll(() => server[Symbol.asyncDispose]());

  test(
    `${WS_CONNECTIONS * PER_WS_CONNECTION} over ws: each is answered once, and nothing is left`,
    async () => {
      const connections = Array.from({ length: WS_CONNECTIONS }, (_, index) =>
        fuzz(server.url, baseSeed + index, PER_WS_CONNECTION),
      );
      await Promise.all(connections);
      await server.returnsToIdle();
    },
    LIMIT_MS,
  );

  test(
    `${OVER_UNIX} over a unix socket`,
    async () => {
      await fuzz(server.unix, baseSeed + 100, OVER_UNIX);
      await server.returnsToIdle();
      const { client, socket } = await dialWire(server.url);
      await client.handshake();
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
      socket.terminate();
    },
    LIMIT_MS,
  );

  test(
    `${OVER_STDIO} over stdio: a server that is left ends well and leaves nothing`,
    async () => {
      using folder = new TestFolder();
      const base = folder.path;
      await using stdio = new StdioServer({ cwd: base, env: { HOME: base } });
      await stdio.client.handshake();
      const options = { base, values: execValues(base), schemas, codes, rare, count: OVER_STDIO };
      await new FuzzRun({ ...options, wire: stdio.wire, seed: baseSeed + 200 }).play();
      stdio.child.stdin.end();
      expect(await stdio.exit).toEqual([0, null]);
      await noneWorksIn(base);
    },
    LIMIT_MS,
  );
});
