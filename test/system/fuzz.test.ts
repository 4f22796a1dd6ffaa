import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { frameOf } from '../harness/frames.js';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';
import { type Schema, SchemaValues } from '../harness/schema-values.js';
import { ServerProcess, StdioServer } from '../harness/server-process.js';
import { dialWire, type WireAnswer, type WireClient } from '../harness/wire-client.js';

const schemaFile = new URL('../../schema/exec-server.json', import.meta.url);
const { requests } = JSON.parse(readFileSync(schemaFile, 'utf8')) as {
  requests: Record<string, { params: Schema }>;
};
const KNOWN_CODES = new Set([-32600, -32601, -32602, -32603, -32004, -32010, -32001]);
const CONNECTIONS = 6;
const MESSAGES_PER_CONNECTION = 1500;
/** Answers are awaited after this many: a lost one is then found near its cause. */
const BATCH = 100;

function often<Value>(value: Value): Value[] {
  return [value, value, value, value];
}

/** Everything that names a file, a program, a signal or an address stays harmless, whatever chance does elsewhere. */
function harmlessValues(base: string): Record<string, unknown[]> {
  const at = (name: string): string => `file://${base}/${name}`;
  const anywhere = [at('a'), at('b'), at('d'), at('d/e'), at('none/x'), at('%FF'), 'x', '', 7, null];
  // Flat names only: copies into each other's insides would double with every round.
  const flat = [at('a'), at('b'), at('c'), 'x', null];
  return {
    path: anywhere,
    cwd: [at('d'), at('none'), ...often(`file://${base}`), 'x'],
    sourcePath: flat,
    destinationPath: flat,
    missing: [[], [at('none')], [at('a'), at('d/x')], 'x', [7]],
    present: [null, at('a'), 7],
    roots: [[], [{ id: 'r', path: at('d') }], [{ id: 'r' }], 'x'],
    argv: [...often(['true']), ['true', ''], [], [''], ['no-such-program'], 'true', [7]],
    arg0: [null, 'name', ''],
    processId: [...Array.from({ length: 60 }, (_, index) => `p${index}`), '', 7],
    signal: ['interrupt', 'SIGTERM', 'SIGCONT', 'SIGNONE', '', 7],
    sandbox: [...often(null), { permissions: { type: 'disabled' } }, {}, 'x'],
    url: ['http://127.0.0.1:9/', 'ftp://127.0.0.1/', 'x', '', 7],
    waitMs: [0, 1, 20, null, -1, 'x'],
    timeoutMs: [1, 50, null, -1, 1.5],
    graceMs: [0, 10, null, -1],
    // Rare to get right by chance, and a start needs all of them.
    envPolicy: [...often(null), {}],
    metadata: [...often(null), { threadId: 'x', toolCallId: '' }],
    shellSnapshot: [...often(null), 'x'],
    size: [...often(null), { rows: 1, cols: 1 }, { rows: 0, cols: -1 }],
    chunk: [...often('AAAA'), '', '*'],
    dataBase64: [...often('AAAA'), '', '*'],
    handleId: ['h0', 'h1', 'h2', 'h'.repeat(33), 7],
  };
}

/** A last look before anything is sent: no path outside the fresh directory is ever named. */
function assertHarmless(text: string, base: string): void {
  for (const [uri] of text.matchAll(/file:[^"]*/gi)) {
    if (!uri.startsWith(`file://${base}`)) throw new Error('a path outside the test directory');
  }
}

async function fuzz(client: WireClient, options: { base: string; seed: number }): Promise<WireAnswer[]> {
  const random = seededRandom(options.seed);
  const values = new SchemaValues(random, harmlessValues(options.base));
  const methods = Object.keys(requests);
  const answers = (): WireAnswer[] =>
    client.arrivals.filter((each): each is WireAnswer => 'id' in each && String(each.id).startsWith('f'));
  for (let sent = 0; sent < MESSAGES_PER_CONNECTION; ) {
    for (let left = BATCH; left > 0; left -= 1, sent += 1) {
      const method = values.pick(methods);
      const params = values.value(requests[method]?.params ?? {});
      const text = JSON.stringify({ id: `f${sent}`, method, params });
      assertHarmless(text, options.base);
      client.send(text);
    }
    await client.until(() => answers().length >= sent);
  }
  return answers();
}

function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function until(probe: () => boolean): Promise<void> {
  while (!probe()) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

describe('messages made up from the schema, and bytes made up from nothing', () => {
  const folder = new TestFolder();
  let server: ServerProcess;
  let idle: number;
  beforeAll(async () => {
    server = await ServerProcess.start({ args: ['--log-level', 'silent', '--session-ttl', '1'] });
    // What is opened once and for good is open after one connection that did a bit of everything.
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    await fuzz(client, { base: folder.path, seed: 999 });
    socket.terminate();
    let before = -1;
    await until(() => {
      const now = descriptors(server.pid);
      const steady = now === before && now < 40;
      before = now;
      return steady;
    });
    idle = descriptors(server.pid);
  });
  afterAll(async () => {
    await server.stop();
    folder[Symbol.dispose]();
  });

  test(`${CONNECTIONS * MESSAGES_PER_CONNECTION} requests: each is answered once, with a code that is known`, async () => {
    const rounds = Array.from({ length: CONNECTIONS }, async (_, index) => {
      const { client, socket } = await dialWire(server.url);
      await client.handshake();
      const answers = await fuzz(client, { base: folder.path, seed: index + 1 });
      expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length);
      for (const { error } of answers) {
        if (error) expect(KNOWN_CODES).toContain(error.code);
        expect(error?.data?.code).not.toBe('internalError');
      }
      expect(await client.call('environment/status')).toEqual({ status: 'ready' });
      socket.terminate();
    });
    await Promise.all(rounds);
    await until(() => descriptors(server.pid) <= idle);
  });

  test('bytes in WebSocket messages are answered or end the connection', async () => {
    const random = seededRandom(5);
    for (let round = 0; round < 100; round += 1) {
      const { client, socket } = await dialWire(server.url);
      const bytes = Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256)));
      socket.send(bytes, { binary: true });
      await Promise.race([client.answerTo(-1).catch(() => undefined), client.untilClosed()]);
      socket.terminate();
    }
    await until(() => descriptors(server.pid) <= idle);
  });

  test('frames with wrong bytes in them are answered or end the connection', async () => {
    const random = seededRandom(9);
    const params = { processId: 'none', writeId: '1' };
    for (let round = 0; round < 300; round += 1) {
      const { client, socket } = await dialWire(server.url);
      await client.handshake({ capabilities: { binaryFrames: true } });
      const frame = frameOf({ id: 'f', method: 'process/write', params, bytes: 'chunk' }, Buffer.from('x'));
      for (let wrong = 1 + random() * 3; wrong > 0; wrong -= 1)
        frame[1 + Math.floor(random() * (frame.length - 1))] = Math.floor(random() * 256);
      const cut = random() < 0.3 ? Math.ceil(random() * frame.length) : frame.length;
      socket.send(frame.subarray(0, cut));
      const answered = client.until(() =>
        client.arrivals.some((each) => 'error' in each || 'result' in each),
      );
      await Promise.race([answered.catch(() => undefined), client.untilClosed()]);
      socket.terminate();
    }
    await until(() => descriptors(server.pid) <= idle);
  });

  test('bytes instead of HTTP, and connections that say nothing, leave nothing', async () => {
    const random = seededRandom(6);
    const { port, hostname } = new URL(server.url);
    const sockets = Array.from({ length: 100 }, (_, index) => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      if (index % 4 > 0)
        socket.write(Buffer.from(Array.from({ length: 200 }, () => Math.floor(random() * 256))));
      return socket;
    });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    socket.terminate();
    for (const each of sockets) each.destroy();
    await until(() => descriptors(server.pid) <= idle);
  });

  test('lines of nonsense on stdio are answered one by one', async () => {
    await using stdio = new StdioServer();
    const random = seededRandom(8);
    const lines = Array.from({ length: 500 }, () =>
      String.fromCharCode(...Array.from({ length: 30 }, () => 33 + Math.floor(random() * 90))),
    );
    for (const line of lines) stdio.client.send(line);
    await stdio.client.handshake();
    const anonymous = stdio.client.arrivals.filter((each) => 'id' in each && each.id === -1);
    expect(anonymous).toHaveLength(lines.length);
  });

  test('bytes that are no text end a stdio server in good order', async () => {
    await using stdio = new StdioServer();
    stdio.child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a, 0x80, 0x0a]));
    expect(await stdio.exit).toEqual([0, null]);
  });
});
