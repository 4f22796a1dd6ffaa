import { afterEach, describe, expect, test } from 'vitest';
import { AppServer } from '../../src/app/index.js';
import { createSandboxChooser } from '../../src/policy/choose-sandbox.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { localEnvironments } from '../harness/app-in-process.js';
import { startParams, WireClient } from '../../testkit/wire-client.mjs';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const trace = { traceparent: `00-${ID}-00f067aa0ba902b7-01`, tracestate: 'vendor=opaque' };

interface Line extends Record<string, unknown> {
  readonly message: string;
}

/** A log that keeps its lines. */
function keptLog() {
  const lines: Line[] = [];
  const keep = (details: Record<string, unknown>, message: string): void =>
    void lines.push({ ...details, message });
  return { lines, log: { debug: keep, info: keep, warn: keep } };
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function closing<Server extends { close(): Promise<void> }>(server: Server): Server {
  closers.push(() => server.close());
  return server;
}

function connect(accept: (channel: ReturnType<typeof createMemoryChannels>[1]) => void): WireClient {
  const [near, far] = createMemoryChannels();
  const texts = new Set<(text: string) => void>();
  accept(far);
  near.open({ message: (text) => texts.forEach((listener) => listener(text)), closed: () => undefined });
  return new WireClient({
    send: (text) => near.send(text, () => undefined),
    onText: (listener) => texts.add(listener),
    onClose: () => undefined,
    close: () => near.close('done'),
  });
}

async function ask(client: WireClient, method: string, params: unknown, more: object = {}) {
  const id = `${method} ${JSON.stringify(more)}`;
  client.send(JSON.stringify({ id, method, params, ...more }));
  return await client.answerTo(id);
}

describe('requests that are part of a trace', () => {
  test('carry its number into every line the exec server logs for them', async () => {
    const { lines, log } = keptLog();
    const server = closing(new ExecServer({ log }));
    const client = connect((channel) => void server.accept(channel));
    await ask(client, 'initialize', { clientName: 'x' }, { trace });
    client.send('{"method":"initialized"}');
    await ask(client, 'process/start', startParams('p', ['true'], { env: { TOKEN: 'secret' } }), { trace });
    await ask(client, 'process/start', startParams('q', ['no-such-program', 'secret']), { trace });
    await ask(client, 'no/such', {}, { trace });
    await ask(client, 'environment/status', null);
    const told = lines.filter(({ trace: id }) => id === ID);
    expect(told.map(({ message, method, code }) => [message, method, code])).toEqual([
      ['session attached', undefined, undefined],
      ['request answered', 'initialize', undefined],
      ['request answered', 'process/start', undefined],
      ['request answered', 'process/start', 'spawnFailed'],
      ['request answered', 'no/such', 'methodNotFound'],
    ]);
    expect(told.every(({ connection }) => typeof connection === 'string')).toBe(true);
    expect(JSON.stringify(lines)).not.toMatch(/secret|opaque/);
    expect(lines.filter(({ method }) => method === 'environment/status')).toEqual([]);
  });

  test('do so on the app server too', async () => {
    const { lines, log } = keptLog();
    const chooseSandbox = createSandboxChooser({ type: 'dangerFullAccess' }, { profiles: {} });
    const server = closing(
      new AppServer({ environments: localEnvironments(), version: '0', chooseSandbox, log }),
    );
    const client = connect((channel) => void server.accept(channel));
    await ask(client, 'initialize', { clientInfo: { name: 'x', version: '1' } }, { trace });
    await ask(client, 'command/exec', { command: ['true'] }, { trace });
    const told = lines.filter(({ trace: id }) => id === ID).map(({ method }) => method);
    expect(told).toEqual(['initialize', 'command/exec']);
  });

  test.each([
    null,
    {},
    { traceparent: null },
    { traceparent: 'nonsense' },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `00-${ID.toUpperCase()}-00f067aa0ba902b7-01` },
  ])('what names no trace is answered all the same: %j', async (odd) => {
    const { lines, log } = keptLog();
    const server = closing(new ExecServer({ log }));
    const client = connect((channel) => void server.accept(channel));
    expect(await ask(client, 'initialize', { clientName: 'x' }, { trace: odd })).toHaveProperty('result');
    expect(lines.filter((line) => 'trace' in line)).toEqual([]);
  });
});
