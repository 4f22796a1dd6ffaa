import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { StdioApp, WebSocketApp } from '../../testkit/app-server.mjs';
import { appValues } from './confined-values.js';
import { baseSeed, FuzzRun } from './fuzz-run.js';
import { noneWorksIn, schemasOf } from './fuzzed-server.js';
import { openWire } from './wires.js';

const schemas = schemasOf('app-server');
// The last two are for sets of held changes that are not there, or in use.
const codes = new Set([-32600, -32602, -32603, -32001, -32004, -32010]);
const PER_TRANSPORT = 7_000;
const LIMIT_MS = 120_000;
const INITIALIZE = JSON.stringify({
  id: 'hello',
  method: 'initialize',
  params: { clientInfo: { name: 'test', version: '1' }, capabilities: { experimentalApi: true } },
});

test(
  `${PER_TRANSPORT} requests made up from the schema of the app server over stdio`,
  async () => {
    using folder = new TestFolder();
    const base = folder.path;
    await using app = new StdioApp({ cwd: base, env: { HOME: base } });
    await app.client.initialize();
    const options = { base, values: appValues(base), schemas, codes, count: PER_TRANSPORT };
    const { refused } = await new FuzzRun({ ...options, wire: app.wire, seed: baseSeed + 300 }).play();
    // Made-up requests that were all refused would prove nothing.
    expect(refused).toBeLessThan(PER_TRANSPORT * 0.9);
    app.hangUp();
    expect(await app.exit).toEqual([0, null]);
    await noneWorksIn(base);
  },
  LIMIT_MS,
);

test(
  `${PER_TRANSPORT} over ws`,
  async () => {
    using folder = new TestFolder();
    const base = folder.path;
    await using app = await WebSocketApp.start({ cwd: base, env: { HOME: base } });
    const wire = await openWire(app.url);
    const greeted = new Promise<void>((resolve) => {
      wire.onText(() => resolve());
    });
    wire.send(INITIALIZE);
    await greeted;
    const options = { base, values: appValues(base), schemas, codes, count: PER_TRANSPORT };
    await new FuzzRun({ ...options, wire, seed: baseSeed + 400 }).play();
    wire.cut();
    await noneWorksIn(base);
  },
  LIMIT_MS,
);
