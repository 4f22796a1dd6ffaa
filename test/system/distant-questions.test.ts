// Needs: curl, bwrap
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const ROUND_TRIP_MS = 80;
/** 403: the policy; 502: the host was allowed, and does not exist. */
const visit = (host: string): string => `curl -sS -o /dev/null -w '%{http_code} ' http://${host}/`;
/** Asks about the second host when a line has arrived: by then the client is back. */
const TWO_VISITS = `${visit('one.example')}; read -r line; ${visit('two.example')}`;

let server: ServerProcess;
let line: FaultProxy;
beforeAll(async () => {
  server = await ServerProcess.start();
  line = await FaultProxy.to(server.url, { line: { roundTripMs: ROUND_TRIP_MS } });
});
afterAll(async () => {
  await line.close();
  await server.stop();
});

const permissions = (network: string) => ({
  permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network },
});

const proxy = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
};

/** Both make the server ask its client about a host. */
const STARTS = [
  [
    'a proxy of Codex',
    {
      enforceManagedNetwork: true,
      sandbox: permissions('enabled'),
      networkProxy: { proxy, policyDecisionTimeoutMs: 60_000 },
    },
    'not_allowed',
  ],
  [
    'rules that ask',
    { sandbox: { ...permissions('restricted'), networkRules: { allow: [], ask: true } } },
    'unanswered',
  ],
] as const;

async function connect(
  more: { resumeSessionId?: string } = {},
): Promise<{ client: WireClient; sessionId: string }> {
  const { client } = await dialWire(line.url);
  const capabilities = { networkAsk: true };
  return { client, sessionId: await client.handshake({ capabilities, ...more }) };
}

const question = (client: WireClient, index: number) =>
  client.until(() => client.arrivals.filter((each) => 'method' in each && 'id' in each)[index]);

const answer = (client: WireClient, id: unknown, decision: object): void =>
  client.send(JSON.stringify({ id, result: { decision } }));

const start = (client: WireClient, processId: string, script: string, more: object) =>
  client.call('process/start', startParams(processId, ['sh', '-c', script], { pipeStdin: true, ...more }));

describe.each(STARTS)('questions of %s behind 80 ms', (_name, launch, unanswered) => {
  test('wait for their answers, each for its own', { timeout: 60_000 }, async () => {
    const { client } = await connect();
    await start(client, 'p', `${visit('one.example')}; ${visit('two.example')}`, launch);
    const first = await question(client, 0);
    const asked = performance.now();
    answer(client, first.id, { type: 'allow' });
    const second = await question(client, 1);
    // The answer has gone there, and the next question has come back.
    expect(performance.now() - asked).toBeGreaterThanOrEqual(ROUND_TRIP_MS - 1);
    answer(client, second.id, { type: 'deny', reason: 'no' });
    expect(outputOf(await client.closedEvents('p')).toString()).toBe('502 403 ');
    client.close();
  });

  test('are denied when the connection is cut, and asked again of the next', {
    timeout: 60_000,
  }, async () => {
    const { client, sessionId } = await connect();
    await start(client, 'q', TWO_VISITS, launch);
    const lost = await question(client, 0);
    // On its way when the line breaks: it must allow nothing.
    answer(client, lost.id, { type: 'allow', remember: 'session' });
    line.cut();
    const next = (await connect({ resumeSessionId: sessionId })).client;
    await next.call('process/write', {
      processId: 'q',
      writeId: 'w',
      chunk: Buffer.from('go\n').toString('base64'),
    });
    const asked = await question(next, 0);
    expect(asked.params).toMatchObject({ processId: 'q', request: { host: 'two.example', port: 80 } });
    answer(next, asked.id, { type: 'allow' });
    await next.until(() =>
      next.arrivals.some((each) => 'method' in each && each.method === 'process/closed'),
    );
    const read = await next.call('process/read', { processId: 'q', afterSeq: 0 });
    const chunks = read['chunks'] as { chunk: string }[];
    expect(chunks.map(({ chunk }) => Buffer.from(chunk, 'base64').toString()).join('')).toBe('403 502 ');
    const exited = next.arrivals.find((each) => 'method' in each && each.method === 'process/exited');
    expect(exited).toMatchObject({
      params: { networkDenied: [{ host: 'one.example', port: 80, reason: unanswered }] },
    });
    next.close();
  });
});

test('a person who is asked while the line breaks is asked about the next host as ever', {
  timeout: 60_000,
}, async () => {
  const asked: string[] = [];
  await using env = await openEnvironment(line.url, {
    sandbox: { policy: 'read-only', network: { allow: [], ask: true } },
    onNetworkRequest: ({ host }) => {
      asked.push(host);
      if (host === 'one.example') line.cut();
      return 'once';
    },
  });
  const child = await env.start({ argv: ['sh', '-c', TWO_VISITS], pipeStdin: true });
  await expect.poll(() => asked).toEqual(['one.example']);
  await child.write('go\n');
  let stdout = '';
  for await (const event of child.events())
    if (event.type === 'output' && event.stream === 'stdout') stdout += Buffer.from(event.bytes).toString();
  expect(stdout).toBe('403 502 ');
  expect(asked).toEqual(['one.example', 'two.example']);
});
