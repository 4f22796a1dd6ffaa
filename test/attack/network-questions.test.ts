// Needs: curl, bwrap
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, startParams, type WireClient } from '../../testkit/wire-client.mjs';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

/** A client that is asked about hosts. */
async function connect(): Promise<WireClient> {
  const { client } = await dialWire(server.url);
  await client.handshake({ capabilities: { networkAsk: true } });
  return client;
}

const sandbox = {
  permissions: { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
  networkRules: { allow: ['known.example'], ask: true },
};

const start = (client: WireClient, processId: string, script: string) =>
  client.call('process/start', startParams(processId, ['sh', '-c', script], { sandbox }));

const questions = (client: WireClient) =>
  client.arrivals.flatMap((each) => ('method' in each && 'id' in each ? [each] : []));

const answer = (client: WireClient, id: unknown, decision: object): void =>
  client.send(JSON.stringify({ id, result: { decision } }));

const VISIT = `curl -sS -o /dev/null -w '%{http_code} '`;
const ALLOW_ALL = { type: 'allow', remember: 'session' };

/** How it ended, and what it said. */
async function endOf(client: WireClient, processId: string) {
  const events = await client.closedEvents(processId);
  const exited = events.find(({ method }) => method === 'process/exited');
  return { output: outputOf(events).toString(), exited: exited?.params };
}

const HOSTS = 200;

/** Wants to reach many hosts at once, and says what became of it. */
const FLOOD = `
  const { port } = new URL(process.env.HTTP_PROXY);
  const agent = new (require('http').Agent)({ maxSockets: Infinity });
  for (let index = 0; index < ${HOSTS}; index += 1)
    require('http').get({ agent, port, host: '127.0.0.1', path: 'http://h' + index + '.example/',
      headers: { host: 'h' + index + '.example' } }, (answer) => console.log(answer.statusCode)).on('error', () => {});`;

test('a flood of unknown hosts becomes a bounded number of questions, and the rest is denied at once', {
  timeout: 60_000,
}, async () => {
  const client = await connect();
  await client.call('process/start', startParams('flood', [process.execPath, '-e', FLOOD], { sandbox }));
  await client.until(
    () => outputOf(processOutput(client, 'flood')).toString().split('403').length > HOSTS - 64,
  );
  expect(questions(client)).toHaveLength(64);
  // Nobody answers. The program ends all the same, and with it the questions.
  await client.call('process/terminate', { processId: 'flood' });
  const { exited } = await endOf(client, 'flood');
  expect(exited?.networkDenied).toHaveLength(16);
  // What was never answered holds up nobody.
  await start(client, 'next', `${VISIT} http://next.example/`);
  const asked = await client.until(() => questions(client)[64]);
  answer(client, asked.id, { type: 'deny', reason: 'no' });
  expect((await endOf(client, 'next')).output).toBe('403 ');
  client.close();
});

test('an answer that comes after the program has ended allows nothing to the next one', {
  timeout: 60_000,
}, async () => {
  const client = await connect();
  await start(client, 'first', `${VISIT} http://late.example/`);
  const asked = await client.until(() => questions(client)[0]);
  await client.call('process/terminate', { processId: 'first' });
  await endOf(client, 'first');
  answer(client, asked.id, ALLOW_ALL);
  await start(client, 'second', `${VISIT} http://late.example/`);
  const again = await client.until(() => questions(client)[1]);
  answer(client, again.id, { type: 'deny', reason: 'no' });
  expect((await endOf(client, 'second')).output).toBe('403 ');
  client.close();
});

test('nobody answers the questions of others', { timeout: 60_000 }, async () => {
  const client = await connect();
  const stranger = await connect();
  await start(client, 'p', `${VISIT} http://mine.example/`);
  const asked = await client.until(() => questions(client)[0]);
  for (const id of [asked.id, String(asked.id), ...Array.from({ length: 50 }, (_, index) => index)])
    answer(stranger, id, ALLOW_ALL);
  // Whoever answers what was not asked is sent away.
  await expect.poll(() => stranger.closed).toBeDefined();
  expect(stranger.closed).toMatchObject({ code: 1002 });
  expect(outputOf(processOutput(client, 'p')).toString()).toBe('');
  answer(client, asked.id, { type: 'deny', reason: 'no' });
  expect((await endOf(client, 'p')).output).toBe('403 ');
  expect(questions(stranger)).toEqual([]);
  client.close();
});

test('a client that answers twice, or nonsense, decides nothing and breaks nothing', {
  timeout: 60_000,
}, async () => {
  const client = await connect();
  await start(client, 'p', `${VISIT} http://a.example/; ${VISIT} http://b.example/`);
  const first = await client.until(() => questions(client)[0]);
  answer(client, first.id, { type: 'deny', reason: 'no' });
  answer(client, first.id, ALLOW_ALL);
  const second = await client.until(() => questions(client)[1]);
  client.send(
    JSON.stringify({ id: second.id, result: { decision: { type: 'allow', remember: { all: 1 } } } }),
  );
  const { output, exited } = await endOf(client, 'p');
  expect(output).toBe('403 403 ');
  expect(exited).toMatchObject({ networkDenied: [{ host: 'a.example' }, { host: 'b.example' }] });
  await client.call('environment/status', {});
  client.close();
});

/** Asks the proxy for a name made of these bytes, by SOCKS. Prints what it answers. */
const ASK_FOR = `
  const { port } = new URL(process.env.ALL_PROXY);
  const names = JSON.parse(process.argv[1]);
  (async () => {
    for (const name of names) {
      const bytes = Buffer.from(name, 'latin1');
      const socket = require('net').connect(port, '127.0.0.1');
      socket.write(Buffer.concat([Buffer.of(5, 1, 0, 5, 1, 0, 3, bytes.length), bytes, Buffer.of(0, 80)]));
      let text = '';
      for await (const part of socket) text += part.toString('hex');
      console.log(text.slice(4, 8));
    }
  })();`;

test('a name cannot forge a line of the log', { timeout: 60_000 }, async () => {
  const client = await connect();
  const hostile = [
    'a\nfake session attached',
    'a\r\nb.example',
    '\u001b[2Ja.example',
    'a host=b',
    'a"b.example',
    'a\tb.example',
    '\u00e9\u009b31m.example',
    'x'.repeat(255),
  ];
  const names = JSON.stringify(hostile).replaceAll("'", '');
  const rules = { ...sandbox, networkRules: { allow: ['known.example'] } };
  await client.call(
    'process/start',
    startParams('p', [process.execPath, '-e', ASK_FOR, names], { sandbox: rules }),
  );
  const { output, exited } = await endOf(client, 'p');
  // Not one of them is a host; those that can be spelled as one are denied under that spelling.
  expect(
    output
      .trim()
      .split('\n')
      .every((line) => ['0508', '0502'].includes(line)),
  ).toBe(true);
  const denied = (exited?.networkDenied ?? []) as { host: string }[];
  for (const { host } of denied) expect(host).toMatch(/^[a-z0-9_.:-]{1,253}$/);
  expect(server.stderr).not.toMatch(/^fake/m);
  for (const line of server.stderr.trimEnd().split('\n')) expect(line).not.toMatch(/\p{Cc}/u);
  client.close();
});

function processOutput(client: WireClient, processId: string) {
  return client.arrivals.flatMap((each) =>
    'method' in each && each.params.processId === processId && each.method === 'process/output' ? [each] : [],
  );
}
