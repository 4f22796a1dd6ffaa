import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { asIdentity, ConfinedServer } from '../harness/confined-server.js';
import { identities } from '../host/sandbox/harness.js';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';

const LISTEN = fileURLToPath(new URL('../fixtures/listen.mjs', import.meta.url));
const MIB = 1024 * 1024;

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString('base64');

/** A program on the server that listens, and its port. */
async function listening(
  client: WireClient,
  how: string,
  more: Record<string, unknown> = {},
  script = LISTEN,
): Promise<number> {
  const processId = `${how}-${Math.random()}`;
  await client.call('process/start', startParams(processId, [process.execPath, script, how], more));
  const text = await client.until(() => /^\d+\n/.exec(String(client.output(processId)))?.[0]);
  return Number(text);
}

const data = (streamId: string, offset: number, bytes: Uint8Array | string, more: object = {}): string =>
  JSON.stringify({ method: 'port/data', params: { streamId, offset, chunk: base64(bytes), ...more } });

/** What the server has said by itself. */
function notificationsOf({ arrivals }: WireClient): { method: string; params: Record<string, unknown> }[] {
  return arrivals.flatMap((each) =>
    'method' in each ? [{ method: each.method, params: { ...each.params } }] : [],
  );
}

/** The reason that the server gave for ending a stream. */
async function resetOf(client: WireClient, streamId: string): Promise<string> {
  const found = await client.until(() =>
    notificationsOf(client).find(
      ({ method, params }) => method === 'port/reset' && params.streamId === streamId,
    ),
  );
  return String(found.params.message);
}

describe.each(identities)('a server run by $name', (identity) => {
  test('is reached in a sandbox without a network, and nothing of ours stays there', {
    timeout: 60_000,
  }, async () => {
    await using host = await ConfinedServer.start(identity);
    const script = `${host.place.workspace}/listen.mjs`;
    copyFileSync(LISTEN, script);
    const port = await listening(host.client, 'echo', { sandbox: host.sandbox() }, script);
    const { ports } = await host.client.call('port/list', null);
    expect(ports).toMatchObject([{ port, sandboxed: true }]);
    expect(await host.client.call('port/connect', { streamId: 'a', port, ownOnly: true })).toMatchObject({
      sandboxed: true,
      address: '127.0.0.1',
    });
    host.client.send(data('a', 0, 'hello'));
    const answer = await host.client.until(() =>
      notificationsOf(host.client).find(({ method }) => method === 'port/data'),
    );
    expect(answer.params).toMatchObject({ streamId: 'a', offset: 0, chunk: base64('hello') });
    const [row] = ports as { pid: number }[];
    const inside = execFileSync('sh', [
      '-c',
      `for p in /proc/[0-9]*; do [ "$(readlink $p/ns/net)" = "$(readlink /proc/${row?.pid}/ns/net)" ] && tr '\\0' ' ' <$p/cmdline && echo; done; true`,
    ]).toString();
    expect(inside).not.toContain('programs/sockets');
  });

  test('leads nobody to its own port from within a policy', async () => {
    const server = await ServerProcess.start({ wrapper: asIdentity(identity) });
    try {
      await using env = await openEnvironment(server.url, { sandbox: 'read-only' });
      const own = Number(new URL(server.url).port);
      await expect(env.connect(own)).rejects.toMatchObject({ code: 'portRefused' });
      await using forward = await env.forward(own, { localPort: 0 });
      const { connect } = await import('node:net');
      const socket = connect(forward.localPort, '127.0.0.1');
      await expect(once(socket, 'data')).rejects.toMatchObject({ code: 'ECONNRESET' });
    } finally {
      await server.stop();
    }
  });
});

describe('a client that breaks the rules of a stream', () => {
  const hostile: [string, (port: number) => string[], RegExp][] = [
    ['leaves a gap', () => [data('s', 5, 'x')], /out of place/],
    ['goes on after its end', () => [data('s', 0, 'x', { end: true }), data('s', 2, 'y')], /out of place/],
    [
      'acknowledges what was never sent',
      () => [JSON.stringify({ method: 'port/ack', params: { streamId: 's', offset: 1e9 } })],
      /never sent/,
    ],
    [
      'sends more than its window, to a program that does not read',
      () => Array.from({ length: 64 }, (_, index) => data('s', index * MIB, Buffer.alloc(MIB))),
      /exceed the window/,
    ],
  ];
  test.each(hostile)(
    '%s: loses the stream, and nothing else',
    { timeout: 60_000 },
    async (_name, messages, why) => {
      const server = await ServerProcess.start();
      const { client } = await dialWire(server.url);
      try {
        await client.handshake();
        const deaf = await listening(client, 'deaf');
        const echo = await listening(client, 'echo');
        await client.call('port/connect', { streamId: 's', port: deaf });
        await client.call('port/connect', { streamId: 'other', port: echo });
        for (const message of messages(deaf)) client.send(message);
        expect(await resetOf(client, 's')).toMatch(why);
        client.send(data('other', 0, 'still here'));
        const answer = await client.until(() =>
          notificationsOf(client).find(
            ({ method, params }) => method === 'port/data' && params.streamId === 'other',
          ),
        );
        expect(answer.params).toMatchObject({ chunk: base64('still here') });
      } finally {
        client.close();
        await server.stop();
      }
    },
  );

  test('opens no more streams than it may, and what it left unread is bounded', {
    timeout: 60_000,
  }, async () => {
    const server = await ServerProcess.start();
    const { client } = await dialWire(server.url);
    try {
      await client.handshake();
      const port = await listening(client, 'flood');
      const before = memoryOf(server.pid);
      const answers = await Promise.all(
        Array.from({ length: 1_030 }, (_, index) =>
          client.ask('port/connect', { streamId: `s${index}`, port }),
        ),
      );
      expect(answers.filter(({ error }) => error?.code === -32001)).toHaveLength(6);
      // Nothing is acknowledged: each stream is sent its first window and no more.
      await client.call('environment/status', {});
      const sent = notificationsOf(client)
        .filter(({ method, params }) => method === 'port/data' && params.streamId === 's0')
        .reduce((sum, { params }) => sum + Buffer.from(String(params.chunk), 'base64').length, 0);
      expect(sent).toBeLessThanOrEqual(128 * 1024 + 256 * 1024);
      expect(memoryOf(server.pid) - before).toBeLessThan(600 * MIB);
    } finally {
      client.close();
      await server.stop();
    }
  });
});

test('a client resumes its own streams alone, and is not believed everything about them', {
  timeout: 60_000,
}, async () => {
  const server = await ServerProcess.start();
  const [{ client: owner }, { client: stranger }] = [await dialWire(server.url), await dialWire(server.url)];
  try {
    await owner.handshake();
    await stranger.handshake();
    const echo = await listening(owner, 'echo');
    for (const streamId of ['a', 'b', 'c']) await owner.call('port/connect', { streamId, port: echo });
    const names = ['a', 'b', 'c', 's1', '0', '__proto__', 'x'.repeat(128)];
    const streams = names.map((streamId) => ({ streamId, received: 0 }));
    expect(await stranger.call('port/resume', { streams })).toEqual({ streams: [] });
    for (const streamId of names) {
      stranger.send(data(streamId, 0, 'from a stranger'));
      stranger.send(JSON.stringify({ method: 'port/reset', params: { streamId, code: 'x', message: 'x' } }));
      stranger.send(JSON.stringify({ method: 'port/ack', params: { streamId, offset: 5 } }));
    }
    await stranger.call('environment/status', {});
    owner.send(data('a', 0, 'mine'));
    const answer = await owner.until(() =>
      notificationsOf(owner).find(({ method }) => method === 'port/data'),
    );
    expect(answer.params).toMatchObject({ streamId: 'a', offset: 0, chunk: base64('mine') });
    // More than it was ever sent; twice the same; and `c` is not named.
    const told = [
      { streamId: 'b', received: 1e9 },
      { streamId: 'a', received: 4 },
      { streamId: 'a', received: 4 },
    ];
    await owner.call('port/resume', { streams: told });
    expect(await resetOf(owner, 'b')).toMatch(/lost bytes/);
    owner.send(data('a', 4, ' again'));
    await owner.until(() =>
      notificationsOf(owner).find(
        ({ method, params }) => method === 'port/data' && params.chunk === base64(' again'),
      ),
    );
    expect(await owner.call('port/resume', { streams: [{ streamId: 'c', received: 0 }] })).toEqual({
      streams: [],
    });
    const refused = await owner.ask('port/resume', {
      streams: Array.from({ length: 1_025 }, (_, index) => ({ streamId: `s${index}`, received: 0 })),
    });
    expect(refused.error).toMatchObject({ code: -32602 });
  } finally {
    owner.close();
    stranger.close();
    await server.stop();
  }
});

test('a port with nobody behind it is not connected to itself', async () => {
  await using env = await openEnvironment('local');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  server.close();
  await once(server, 'close');
  for (let round = 0; round < 50; round += 1)
    await expect(env.connect(port)).rejects.toMatchObject({ code: 'portRefused' });
});

function memoryOf(pid: number): number {
  const status = execFileSync('cat', [`/proc/${pid}/status`]).toString();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
