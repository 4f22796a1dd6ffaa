// Needs: curl, bwrap
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { startSite, type Site } from '../harness/site.js';

let server: ServerProcess;
let site: Site;
beforeAll(async () => {
  server = await ServerProcess.start();
  site = await startSite();
});
afterAll(async () => {
  site.stop();
  await server.stop();
});

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

async function connect(options: { resumeSessionId?: string } = {}): Promise<{
  client: WireClient;
  sessionId: string;
  cut: () => void;
}> {
  const { client, socket } = await dialWire(server.url);
  opened.push(() => socket.terminate());
  return { client, sessionId: await client.handshake(options), cut: () => socket.terminate() };
}

const PROXY = {
  enabled: true,
  enableSocks5: true,
  enableSocks5Udp: true,
  allowUpstreamProxy: true,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
};

const permissions = { type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' };

const LAUNCH = { enforceManagedNetwork: true, sandbox: { permissions } };

function launch(proxy: object, more: object = {}, around: object = LAUNCH) {
  return { ...around, networkProxy: { proxy: { ...PROXY, ...proxy }, ...more } };
}

let count = 0;

async function begin(client: WireClient, script: string, more: Record<string, unknown>): Promise<string> {
  count += 1;
  const id = `p${count}`;
  await client.call('process/start', startParams(id, ['/bin/bash', '-c', script], more));
  return id;
}

async function outcome(client: WireClient, id: string) {
  const events = await client.closedEvents(id);
  return {
    output: outputOf(events).toString(),
    exited: events.find(({ method }) => method === 'process/exited')?.params,
    decisions: events.filter(({ method }) => method === 'network/policyDecision').map(({ params }) => params),
  };
}

async function run(client: WireClient, script: string, more: Record<string, unknown>) {
  return await outcome(client, await begin(client, script, more));
}

/** The next question the server has asked, in order of arrival. */
async function question(client: WireClient, index = 0): Promise<{ id: unknown; params: unknown }> {
  return await client.until(() => {
    const asked = client.arrivals.filter((each) => 'method' in each && 'id' in each);
    return asked[index];
  });
}

const answer = (client: WireClient, id: unknown, decision: unknown): void =>
  client.send(JSON.stringify({ id, result: { decision } }));

const text = (read: Record<string, unknown>): string =>
  (read['chunks'] as { chunk: string }[])
    .map(({ chunk }) => Buffer.from(chunk, 'base64').toString())
    .join('');

const STATUS = `curl -sS -o /dev/null -w '%{http_code} '`;

describe('a proxy that Codex asks for', () => {
  test('lets through what is allowed, and every decision is reported', async () => {
    const { client } = await connect();
    const script = `curl -sS ${site.url}; ${STATUS} http://bad.example/; ${STATUS} http://other.example/`;
    const { output, exited, decisions } = await run(
      client,
      script,
      launch({ domains: { '127.0.0.1': 'allow', 'bad.example': 'deny', 'x.example': 'none' } }),
    );
    expect(output).toBe('hello403 403 ');
    const common = { scope: 'domain', protocol: 'http', method: 'GET', policyOverride: false };
    const denied = { ...common, decision: 'deny', source: 'baseline_policy', port: 80 };
    expect(decisions).toMatchObject([
      {
        ...common,
        decision: 'allow',
        reason: 'allow',
        host: '127.0.0.1',
        port: site.port,
        client: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      },
      { ...denied, reason: 'denied', host: 'bad.example' },
      { ...denied, reason: 'not_allowed', host: 'other.example' },
    ]);
    expect(exited).toMatchObject({
      networkDenied: [
        { host: 'bad.example', port: 80, reason: 'denied' },
        { host: 'other.example', port: 80, reason: 'not_allowed' },
      ],
    });
  });

  test.each([
    ['no domains', { domains: null }, '403 '],
    ['everything, but nothing local', { domains: { '*': 'allow' } }, '403 '],
    ['a name for it', { domains: { localhost: 'allow' } }, '403 '],
    ['local addresses need no naming', { domains: { '*': 'allow' }, allowLocalBinding: true }, '200 '],
    ['a wildcard', { domains: { '127.0.0.*': 'allow' }, allowLocalBinding: true }, '200 '],
    ['a denial beats it', { domains: { '*': 'allow', '127.*': 'deny' }, allowLocalBinding: true }, '403 '],
    ['another port', { domains: { '127.0.0.1:1': 'allow' } }, '403 '],
  ])('decides in order: %s', async (_name, proxy, expected) => {
    const { client } = await connect();
    // Local addresses are those of the sandbox, so the proxy has to be named.
    const script = `${STATUS} --noproxy '' ${site.url}`;
    expect((await run(client, script, launch(proxy))).output).toBe(expected);
  });

  test.each([
    ['no policy', {}],
    ['no policy, enforced', { enforceManagedNetwork: true }],
    ['nothing confined', { sandbox: { permissions: { type: 'disabled' } } }],
    ['open network', { sandbox: { permissions } }],
    [
      'no network, enforced',
      { ...LAUNCH, sandbox: { permissions: { ...permissions, network: 'restricted' } } },
    ],
  ])('is the only way out with %s', async (_name, around) => {
    const { client } = await connect();
    const script = `curl -sS ${site.url}; curl -s --noproxy '*' ${site.url} || echo " $?"; cut -d: -f1 -s /proc/net/dev`;
    const { output } = await run(client, script, launch({ domains: { '127.0.0.1': 'allow' } }, {}, around));
    expect(output.trim().split(/\s+/)).toEqual(['hello', '7', 'lo']);
  });

  test('does not give a network to whom the policy gives none', async () => {
    const { client } = await connect();
    const around = { sandbox: { permissions: { ...permissions, network: 'restricted' } } };
    const script = `curl -sS ${site.url} 2>/dev/null || echo none; echo "$HTTP_PROXY"`;
    const { output } = await run(client, script, launch({ domains: { '127.0.0.1': 'allow' } }, {}, around));
    expect(output).toBe('none\n\n');
  });

  test('is in the variables that tools read, whatever the client sent', async () => {
    const { client } = await connect();
    const script =
      'echo "$HTTP_PROXY $https_proxy $ALL_PROXY [$NO_PROXY] $CODEX_NETWORK_ALLOW_LOCAL_BINDING"';
    const env = { PATH: '/usr/bin:/bin', HTTP_PROXY: 'http://10.0.0.1:1', NO_PROXY: '*' };
    const shown = async (proxy: object) =>
      (await run(client, script, { ...launch(proxy), env })).output.replaceAll(/127\.0\.0\.1:\d+/g, 'IN');
    expect(await shown({})).toBe('http://IN http://IN socks5h://IN [] 0\n');
    expect(await shown({ enableSocks5: false })).toBe('http://IN http://IN http://IN [] 0\n');
    expect(await shown({ allowLocalBinding: true })).toBe(
      'http://IN http://IN socks5h://IN [localhost,127.0.0.1,::1] 1\n',
    );
    // A service of this machine is meant: it must not be looked for inside.
    expect(await shown({ allowLocalBinding: true, domains: { '127.0.0.1': 'allow' } })).toBe(
      'http://IN http://IN socks5h://IN [] 0\n',
    );
  });

  test('speaks SOCKS only if it may', async () => {
    const { client } = await connect();
    const script = `curl -sS -x "socks5h://\${HTTP_PROXY#http://}" ${site.url} || echo " $?"`;
    const domains = { '127.0.0.1': 'allow' };
    expect((await run(client, script, launch({ domains }))).output).toBe('hello');
    expect((await run(client, script, launch({ domains, enableSocks5: false }))).output).toMatch(/ 97\n$/);
  });

  test('a program that fails for lack of a host is reported as denied, also in the log', async () => {
    const { client } = await connect();
    const script = 'for i in 1 2 3; do curl -sSf http://logged.example/; done';
    const { exited } = await run(client, script, launch({}));
    expect(exited).toMatchObject({ sandboxDenied: true });
    const lines = server.stderr.split('\n').filter((line) => line.includes('logged.example'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/the network policy denied a host/);
    expect(lines[0]).toContain('not_allowed');
  });
});

describe('a proxy that exists already', () => {
  const env = (proxy: string) => ({ PATH: '/usr/bin:/bin', HTTP_PROXY: proxy, http_proxy: proxy });
  const named = (proxy: string) => ({ ...LAUNCH, managedNetwork: { loopbackPorts: [1] }, env: env(proxy) });

  test('is the only thing that can be reached', async () => {
    const { client } = await connect();
    // Any web server does: it is asked for a URL as a proxy would be.
    const script = `curl -sS http://a.example/; curl -s --noproxy '*' ${site.url} || echo " $?"; cut -d: -f1 -s /proc/net/dev`;
    const { output } = await run(client, script, named(`http://127.0.0.1:${site.port}`));
    expect(output.trim().split(/\s+/)).toEqual(['hello', '7', 'lo']);
  });

  test.each([
    ['none', () => ''],
    ['one elsewhere', () => 'http://proxy.example:3128'],
    ['no port', () => 'http://127.0.0.1'],
    ['a port that is none', () => 'http://127.0.0.1:70000'],
    ['our own door', () => server.url.replace(/^ws/, 'http')],
  ])('does not run without: %s', async (_name, proxy) => {
    const { client } = await connect();
    const { error } = await client.ask('process/start', startParams('x', ['true'], named(proxy())));
    expect(error).toMatchObject({ data: { code: 'sandboxUnavailable', reason: 'managedNetwork' } });
  });
});

describe('a client that is asked about hosts', () => {
  const asked = launch(
    { domains: { '127.0.0.1:1': 'allow' }, allowLocalBinding: true },
    { policyDecisionTimeoutMs: 60_000 },
  );
  const visit = `curl -sS --noproxy '' -w ' %{http_code}'`;

  test('decides, and nothing is remembered', async () => {
    const { client } = await connect();
    const id = await begin(client, `${visit} ${site.url}; ${visit} ${site.url}`, asked);
    const first = await question(client);
    expect(first.params).toEqual({
      processId: id,
      request: { protocol: 'http', host: '127.0.0.1', port: site.port },
    });
    answer(client, first.id, { type: 'allow' });
    answer(client, (await question(client, 1)).id, { type: 'deny', reason: 'not today' });
    const { output, decisions } = await outcome(client, id);
    expect(output).toContain('hello 200');
    expect(output).toMatch(/not today.* 403$/s);
    expect(decisions).toMatchObject([
      { decision: 'allow', source: 'decider', reason: 'not_allowed', policyOverride: true },
      { decision: 'deny', source: 'decider', reason: 'not today', policyOverride: false },
    ]);
  });

  test('is asked about reviewed hosts, even if they are allowed, and never about denied ones', async () => {
    const { client } = await connect();
    const id = await begin(
      client,
      `${visit} ${site.url}; ${STATUS} http://bad.example; ${STATUS} http://10.0.0.1`,
      launch(
        {
          domains: { '127.0.0.1': 'allow', 'bad.example': 'deny' },
          reviewDomains: ['127.0.0.1', 'bad.example'],
        },
        { policyDecisionTimeoutMs: 60_000 },
      ),
    );
    answer(client, (await question(client)).id, { type: 'allow' });
    const { output, decisions } = await outcome(client, id);
    expect(output).toBe('hello 200403 403 ');
    expect(decisions).toMatchObject([
      { decision: 'allow' },
      { reason: 'denied' },
      { reason: 'not_allowed_local' },
    ]);
    expect(client.arrivals.filter((each) => 'id' in each && 'method' in each)).toHaveLength(1);
  });

  test('a name it allows does not lead to a local address', async () => {
    const { client } = await connect();
    const id = await begin(
      client,
      `${STATUS} http://localhost:${site.port}; ${STATUS} http://0x7f.1:${site.port}`,
      launch({}, { policyDecisionTimeoutMs: 60_000 }),
    );
    const { output, decisions } = await outcome(client, id);
    expect(output).toBe('403 403 ');
    expect(decisions).toMatchObject([{ reason: 'not_allowed_local' }, { reason: 'not_allowed_local' }]);
  });

  test.each([
    ['an error', { error: { code: -32601, message: 'no' } }, 'not_allowed'],
    ['no decision', { result: {} }, 'not_allowed'],
    ['no reason', { result: { decision: { type: 'deny' } } }, 'not_allowed'],
    ['an empty reason', { result: { decision: { type: 'deny', reason: '' } } }, 'policy_denied'],
    ['a long reason', { result: { decision: { type: 'deny', reason: 'x'.repeat(1025) } } }, 'not_allowed'],
    [
      'a reason that could split a header',
      { result: { decision: { type: 'ask', reason: 'a\r\nb' } } },
      'not_allowed',
    ],
    ['another question', { result: { decision: { type: 'ask', reason: 'who?' } } }, 'who?'],
  ])('is not understood: %s', async (_name, reply, reason) => {
    const { client } = await connect();
    const id = await begin(client, `${visit} ${site.url}`, asked);
    const { id: asking } = await question(client);
    client.send(JSON.stringify({ id: asking, ...reply }));
    const { output, decisions } = await outcome(client, id);
    expect(output).toMatch(/403$/);
    expect(decisions).toMatchObject([{ reason }]);
  });

  test('has so much time, and what it says later does no harm', { timeout: 20_000 }, async () => {
    const { client } = await connect();
    const brief = launch({ domains: {}, allowLocalBinding: true }, { policyDecisionTimeoutMs: 1 });
    const id = await begin(client, `${visit} ${site.url}`, brief);
    const { id: asking } = await question(client);
    expect((await outcome(client, id)).decisions).toMatchObject([{ reason: 'not_allowed' }]);
    answer(client, asking, { type: 'allow' });
    answer(client, asking, { type: 'allow' });
    expect((await run(client, 'echo on', {})).output).toBe('on\n');
  });

  test('an answer to what was never asked ends the connection', async () => {
    const { client } = await connect();
    answer(client, 99, { type: 'allow' });
    await client.untilClosed();
  });

  test('that is gone is not waited for, and asked again when it is back', async () => {
    const first = await connect();
    const id = await begin(first.client, `read -r _; ${visit} ${site.url}; read -r _; ${visit} ${site.url}`, {
      ...asked,
      pipeStdin: true,
    });
    const write = (client: WireClient, writeId: string) =>
      client.call('process/write', { processId: id, writeId, chunk: Buffer.from('\n').toString('base64') });
    await write(first.client, 'one');
    await question(first.client);
    first.cut();
    const { client } = await connect({ resumeSessionId: first.sessionId });
    // What was said meanwhile was told to nobody.
    const said = async () => text(await client.call('process/read', { processId: id }));
    await expect.poll(said, { timeout: 20_000 }).toMatch(/not_allowed.*403$/s);
    await write(client, 'two');
    answer(client, (await question(client)).id, { type: 'allow' });
    await client.closedEvents(id);
    expect(text(await client.call('process/read', { processId: id }))).toMatch(/403hello 200$/);
  });

  test('that answers nobody holds up 256 requests, and no more', { timeout: 30_000 }, async () => {
    const { client } = await connect();
    const script = `for i in $(seq 300); do ${STATUS} --noproxy '' http://127.0.0.1:$((1000 + i)) & done; wait`;
    const id = await begin(client, script, asked);
    await question(client, 255);
    await client.until(() => client.output(id).toString().match(/403/g)?.length === 44);
    expect(client.arrivals.filter((each) => 'id' in each && 'method' in each)).toHaveLength(256);
    await client.call('process/terminate', { processId: id });
  });
});
