import { once } from 'node:events';
import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';
import type { Schema } from '../harness/schema-values.js';
import { bin, launch } from '../../testkit/launch.mjs';
import { lineWire, type Wire, WireClient } from '../../testkit/wire-client.mjs';
import { toolValues } from './confined-values.js';
import { baseSeed, FuzzRun } from './fuzz-run.js';
import { noneWorksIn } from './fuzzed-server.js';

const CALLS = 1_500;
const NONSENSE = 500;
const LIMIT_MS = 120_000;
/** What the SDK answers with. */
const codes = new Set([-32600, -32601, -32602, -32603]);

const asMcp = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message });

async function handshake(wire: Wire): Promise<Record<string, Schema>> {
  const client = new WireClient(wire);
  const hello = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  client.send(asMcp({ id: 'hello', method: 'initialize', params: hello }));
  await client.answerTo('hello');
  client.send(asMcp({ method: 'notifications/initialized' }));
  client.send(asMcp({ id: 'list', method: 'tools/list' }));
  const { result } = await client.answerTo('list');
  const tools = (result?.['tools'] ?? []) as { name: string; inputSchema: Schema }[];
  return Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
}

test(
  `${CALLS} calls of tools and ${NONSENSE} lines of nonsense over stdio`,
  async () => {
    using folder = new TestFolder();
    const base = folder.path;
    const child = launch([process.execPath, bin, 'mcp'], { cwd: base, env: { HOME: base } });
    child.stderr.resume();
    const exit = once(child, 'exit');
    const wire = lineWire(child);
    const schemas = await handshake(wire);
    const random = seededRandom(baseSeed + 500);
    for (let left = NONSENSE; left > 0; left -= 1) {
      wire.send(String.fromCharCode(...Array.from({ length: 30 }, () => 33 + Math.floor(random() * 90))));
    }
    const run = new FuzzRun({
      wire,
      seed: baseSeed + 600,
      count: CALLS,
      base,
      values: toolValues(base),
      schemas,
      codes,
      envelope: ({ id, method, params }) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: method, arguments: params },
      }),
    });
    const { answered } = await run.play();
    expect(answered).toBe(CALLS);
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    await noneWorksIn(base);
  },
  LIMIT_MS,
);
