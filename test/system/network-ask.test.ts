// Needs: curl, tmux, bwrap
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NetworkAsker, NetworkQuestion } from '../../src/contract/index.js';
import { openEnvironment } from '../../src/index.js';
import { bin } from '../../testkit/launch.mjs';
import { CommandLine } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { Tmux } from '../harness/tmux.js';

/** 403: the policy; 502: the host was allowed, and does not exist. */
const visit = (...hosts: string[]): string =>
  hosts.map((host) => `curl -sS -o /dev/null -w '%{http_code} ' http://${host}/`).join('; ');

/** Wants to reach many hosts at once. */
const FLOOD = `
  const [name, count] = process.argv.slice(1);
  const { port } = new URL(process.env.HTTP_PROXY);
  const agent = new (require('http').Agent)({ maxSockets: Infinity });
  for (let index = 0; index < Number(count); index += 1) {
    const host = name + index + '.example';
    const options = { agent, port, host: '127.0.0.1', path: 'http://' + host + '/', headers: { host } };
    require('http').get(options, ({ statusCode }) => process.stdout.write(statusCode + ' '));
  }`;

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

const rules = { allow: ['known.example'], deny: ['bad.example'], ask: true };

describe.each(['here', 'on a server'])('somebody who is asked about hosts %s', (where) => {
  const open = (onNetworkRequest?: NetworkAsker) =>
    openEnvironment(where === 'here' ? 'local' : server.url, {
      sandbox: { policy: 'read-only', network: rules },
      onNetworkRequest,
    });

  test('allows a connection, a host for good, or nothing', async () => {
    const asked: NetworkQuestion[] = [];
    const answers = { 'one.example': 'once', 'all.example': 'session', 'no.example': 'deny' } as const;
    await using env = await open((question) => {
      asked.push(question);
      return answers[question.host as keyof typeof answers];
    });
    const script = visit(
      ...['known.example', 'bad.example', '10.0.0.1', 'localhost:1'],
      ...['one.example', 'one.example', 'all.example', 'all.example:81', 'no.example', 'no.example:81'],
    );
    const child = await env.start({ argv: ['sh', '-c', `unset NO_PROXY no_proxy; ${script}`] });
    let stdout = '';
    for await (const event of child.events())
      if (event.type === 'output' && event.stream === 'stdout') stdout += Buffer.from(event.bytes).toString();
    expect(stdout.trim().split(' ')).toEqual([
      '502',
      '403',
      '403',
      '403',
      '502',
      '502',
      '502',
      '502',
      '403',
      '403',
    ]);
    const common = { processId: child.processId, protocol: 'http', port: 80 };
    expect(asked).toEqual([
      { ...common, host: 'one.example' },
      { ...common, host: 'one.example' },
      { ...common, host: 'all.example' },
      { ...common, host: 'no.example' },
    ]);
    // Another program of the same session.
    expect((await env.run(['sh', '-c', visit('all.example', 'no.example')])).stdout).toBe('502 403 ');
    expect(asked.map(({ host }) => host).slice(4)).toEqual(['no.example']);
  });

  test('is asked once for many connections that wait for the same host', async () => {
    const asked: string[] = [];
    let answer: (say: 'once') => void = () => undefined;
    await using env = await open(({ host }) => {
      asked.push(host);
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    const script = `for i in 1 2 3 4 5; do ${visit('one.example')} & done; wait`;
    const running = env.run(['sh', '-c', script]);
    // Until all five are at the proxy: only the first becomes a question.
    await expect.poll(() => asked.length).toBe(1);
    const inside = await env.run(['sh', '-c', 'true']);
    expect(inside.exitCode).toBe(0);
    answer('once');
    const late = setInterval(() => answer('once'), 100);
    expect((await running).stdout).toBe('502 502 502 502 502 ');
    clearInterval(late);
  });

  test('is asked a bounded number of questions, whatever programs try', { timeout: 60_000 }, async () => {
    const answers: ((say: 'deny') => void)[] = [];
    await using env = await open(() => new Promise((resolve) => void answers.push(resolve)));
    // A proxy has room for 512 connections.
    const floods = ['a', 'b', 'c'].map((name) => env.run([process.execPath, '-e', FLOOD, name, '340']));
    await expect.poll(() => answers.length).toBe(64);
    // A program that nobody has to be asked about goes on meanwhile.
    expect((await env.run(['sh', '-c', visit('known.example')])).stdout).toBe('502 ');
    const late = setInterval(() => answers.splice(0).map((answer) => answer('deny')), 50);
    for (const { stdout } of await Promise.all(floods)) expect(stdout).toBe('403 '.repeat(340));
    clearInterval(late);
  });

  test.each([
    ['is not there', undefined],
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['says nonsense', () => 'perhaps' as 'deny'],
  ])('and %s: the host is denied, and the end says so', async (_name, asker) => {
    await using env = await open(asker);
    const child = await env.start({ argv: ['sh', '-c', visit('one.example')] });
    const events = [];
    for await (const event of child.events()) events.push(event);
    const [denied] = events.flatMap((event) => (event.type === 'exited' ? (event.networkDenied ?? []) : []));
    expect(denied).toEqual({
      host: 'one.example',
      port: 80,
      reason: expect.stringMatching(/unanswered|declined/),
    });
  });
});

test('a client that does not answer questions is not asked', async () => {
  const { client, socket } = await dialWire(server.url);
  await client.handshake();
  const sandbox = {
    permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
    networkRules: rules,
  };
  await client.call('process/start', startParams('p', ['sh', '-c', visit('one.example')], { sandbox }));
  const events = await client.closedEvents('p');
  expect(events.find(({ method }) => method === 'process/exited')?.params).toMatchObject({
    networkDenied: [{ host: 'one.example', port: 80, reason: 'unanswered' }],
  });
  expect(events.filter(({ method }) => method.startsWith('network/'))).toEqual([]);
  socket.terminate();
});

describe('the command line', () => {
  const command = (...args: string[]): string[] => [
    ...['run', '--sandbox', 'read-only', '--network', 'ask allow=known.example', ...args],
    ...['--', 'sh', '-c', visit('one.example', 'two.example', 'one.example')],
  ];

  test.each([
    ['with its input from the terminal', ''],
    ['on a terminal of its own', '-t'],
    ['with its input from elsewhere', '--no-stdin'],
  ])('asks at the terminal, %s', { timeout: 60_000 }, async (_name, flag) => {
    const args = command(...(flag ? [flag] : [])).map((each) => `'${each.replaceAll("'", `'\\''`)}'`);
    using terminal = new Tmux(
      `${process.execPath} ${bin} ${args.join(' ')}; echo; echo "ended $?"; sleep 1000`,
      {
        rows: 20,
        cols: 100,
      },
    );
    const asks = (host: string) => (screen: string[]) =>
      screen.some((line) => line.includes(`may it reach ${host}:80?`));
    await terminal.shows(asks('one.example'));
    terminal.type('s');
    if (flag !== '-t') terminal.press('Enter');
    await terminal.shows(asks('two.example'));
    terminal.type('d');
    if (flag !== '-t') terminal.press('Enter');
    await terminal.shows((screen) => screen.includes('ended 0'));
    expect(terminal.screen.join(' ')).toMatch(/502 .*403 .*502/);
  });

  test('denies where there is nobody to ask, and says so', async () => {
    const { stdout, stderr } = await new CommandLine(command()).result();
    expect(stdout).toBe('403 403 403 ');
    expect(stderr).toContain('one.example:80 (nobody answered the question)');
  });
});

describe('an MCP client', () => {
  async function connect(capabilities: object) {
    const client = new Client({ name: 'test', version: '1' }, { capabilities });
    const args = [bin, 'mcp', '--sandbox', 'read-only', '--network', 'ask'];
    const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' });
    return { client, transport, start: () => client.connect(transport) };
  }

  const call = async (client: Client, cmd: string) =>
    JSON.stringify(
      await client.callTool({ name: 'exec_command', arguments: { cmd, yield_time_ms: 20_000 } }),
    );

  test('asks its person', { timeout: 60_000 }, async () => {
    const { client, start } = await connect({ elicitation: {} });
    const messages: string[] = [];
    const answers = ['session', 'deny'];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      messages.push(params.message);
      return { action: 'accept' as const, content: { answer: answers[messages.length - 1] ?? 'deny' } };
    });
    await start();
    expect(await call(client, visit('one.example', 'two.example', 'one.example'))).toContain('502 403 502');
    expect(messages).toEqual([
      expect.stringContaining('one.example:80'),
      expect.stringContaining('two.example:80'),
    ]);
    await client.close();
  });

  test('is asked a bounded number of questions, and may leave them open', { timeout: 60_000 }, async () => {
    const { client, start, transport } = await connect({ elicitation: {} });
    const open: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      open.push(params.message);
      return new Promise(() => undefined);
    });
    await start();
    const cmd = `${process.execPath} -e '${FLOOD.replaceAll("'", `'\\''`)}' a 340`;
    const calling = client.callTool({ name: 'exec_command', arguments: { cmd } }).catch(() => undefined);
    await expect.poll(() => open.length, { timeout: 20_000 }).toBe(64);
    // It goes away with all of them open.
    const { pid } = transport;
    await client.close();
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    await calling;
    expect(new Set(open).size).toBe(64);
  });

  test('that cannot is told that nobody answered', { timeout: 60_000 }, async () => {
    const { client, start } = await connect({});
    await start();
    const said = await call(client, visit('one.example'));
    expect(said).toContain('403');
    expect(said).toContain('one.example:80 (nobody answered the question)');
    await client.close();
  });
});

function isAlive(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
}
