import { chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocketApp } from '../../testkit/app-server.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { asIdentity, ConfinedServer, special } from '../harness/confined-server.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { shareOf } from './share-of.js';
import { tries } from './tally.js';

/** A program with network, whose files are confined. */
function withNetwork(host: ConfinedServer, more: Record<string, unknown> = {}): object {
  const sandbox = host.sandbox(more) as { permissions: object };
  return { ...sandbox, permissions: { ...sandbox.permissions, network: 'enabled' } };
}

/** Says what an upgrade is answered on each address; extra frames go right behind it. */
const UPGRADE = `
  const { connect } = require('node:net');
  const [host, port, token, after] = process.argv.slice(1);
  const auth = token ? 'Authorization: Bearer ' + token + '\\r\\n' : '';
  const head = 'GET / HTTP/1.1\\r\\nHost: localhost\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n' + auth +
    'Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r\\n';
  const frame = (text) => {
    const bytes = Buffer.from(text);
    const size = Buffer.from([0x81, 0xfe, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0]);
    return Buffer.concat([size, bytes]);
  };
  let open = host.split(',').length;
  const done = (text) => {
    console.log(text);
    open -= 1;
    if (open === 0) process.exit(0);
  };
  for (const each of host.split(',')) {
    const socket = connect({ host: each, port: Number(port) }, () => {
      socket.write(head);
      if (!after) return;
      for (const text of JSON.parse(after)) socket.write(frame(text));
      setTimeout(() => process.exit(0), 5);
    });
    socket.setEncoding('latin1').once('data', (text) => {
      if (!after) done(text.split(' ')[1] + ' ' + (text.split('\\r\\n\\r\\n')[1] ?? ''));
    });
    socket.on('error', (error) => done(error.code));
  }`;

const portOf = ({ server }: { server: { url: string } }): string => new URL(server.url).port;

const upgrade = (host: { server: { url: string } }, address: string, more: string[] = []): string[] => [
  process.execPath,
  '-e',
  UPGRADE,
  address,
  portOf(host),
  ...more,
];

const TRIES = tries(2);

const REFUSED = '403 connections from sandboxes are not served\n';

/** What a client says that has a file made. */
function touching(path: string): string[] {
  const params = {
    processId: 'x',
    argv: ['touch', path],
    cwd: 'file:///',
    env: {},
    tty: false,
    pipeStdin: false,
    arg0: null,
  };
  return [
    { id: 1, method: 'initialize', params: { clientName: 'x' } },
    { method: 'initialized', params: {} },
    { id: 2, method: 'process/start', params },
  ].map((each) => JSON.stringify(each));
}

/** One for all tests around: most of the time would go into starting servers. */
function sharedServer(identity: Identity): () => ConfinedServer {
  let host: ConfinedServer;
  beforeAll(async () => {
    host = await ConfinedServer.start(identity);
  });
  afterAll(async () => await host[Symbol.asyncDispose]());
  return () => host;
}

/** A file of the server's user. */
function put(identity: Identity, path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 });
  if (identity.uid !== undefined) chownSync(path, identity.uid, identity.uid);
  return path;
}

describe.each(identities)('listeners of our own, as $name', (identity) => {
  const shared = sharedServer(identity);

  test('a program with network is not served, whatever address it takes', async () => {
    const host = shared();
    const sandbox = withNetwork(host);
    const { text } = await host.run(upgrade(host, '127.0.0.1,::ffff:127.0.0.1'), { sandbox });
    expect(text).toBe(REFUSED.repeat(2));
  });

  test('nor on an address of this machine that is not loopback, nor with the token', async () => {
    const place = new Place(identity);
    const token = put(identity, join(place.base, 'token'), 'open-sesame-and-then-some');
    const auth = ['--ws-auth', 'capability-token', '--ws-token-file', token];
    const args = ['--listen', 'ws://[::]:0', ...auth];
    await using host = await ConfinedServer.start(identity, {
      place,
      args,
      token: 'open-sesame-and-then-some',
    });
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const addresses = own.filter(({ scopeid }) => !scopeid).map(({ address }) => address);
    const all = [...new Set(['127.0.0.1', '127.0.0.9', ...addresses])];
    const argv = upgrade(host, all.join(), ['open-sesame-and-then-some']);
    expect((await host.run(argv, { sandbox: withNetwork(host) })).text).toBe(REFUSED.repeat(all.length));
  });

  test('a program that is not confined goes on being served', async () => {
    const host = shared();
    await host.run(['true'], { sandbox: withNetwork(host) });
    const { client, socket } = await dialWire(host.server.url);
    await client.handshake();
    socket.terminate();
    // A process of the server's own user, outside.
    const params = host.params('out', upgrade(host, '127.0.0.1'), { sandbox: undefined });
    await host.client.call('process/start', params);
    await host.client.closedEvents('out');
    expect(host.client.output('out').toString()).toMatch(/^101 /);
  });

  test('nothing is done for one that sent its requests and left', async () => {
    const host = shared();
    const marker = join(host.place.outside, 'marker');
    const sandbox = withNetwork(host);
    for (let n = 0; n < TRIES; n += 1)
      await host.run(upgrade(host, '127.0.0.1', ['', JSON.stringify(touching(marker))]), { sandbox });
    // Whatever was accepted before this is done by now.
    await host.run(['sleep', '0.2']);
    expect(existsSync(marker)).toBe(false);
  });

  test('no helper inside takes the connection over', async () => {
    const host = shared();
    const helper =
      "const s = new (require('node:net').Socket)({ fd: 3 }); s.on('data', (d) => { console.log(String(d).split(' ')[1]); process.exit(0); }); " +
      "setTimeout(() => s.write('GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n'), 50)";
    const script = `
      const { spawn } = require('node:child_process');
      const socket = require('node:net').connect(${portOf(host)}, '127.0.0.1', () => {
        spawn(process.execPath, ['-e', ${JSON.stringify(helper)}], {
          stdio: ['ignore', 'inherit', 'inherit', socket],
        }).on('exit', () => process.exit(0));
        socket.destroy();
      });`;
    const { text } = await host.run([process.execPath, '-e', script], { sandbox: withNetwork(host) });
    expect(text).toBe('403\n');
  });
});

describe.each(identities)('metrics, as $name', (identity) => {
  test('are not for programs with network', async () => {
    await using host = await ConfinedServer.start(identity, {
      args: ['--log-level', 'info', '--metrics', '127.0.0.1:0'],
    });
    const url = await host.server.saysOnStderr(/serving metrics url=(\S+)/);
    const script = `fetch('${url}').then(async (r) => console.log(r.status, (await r.text()).slice(0, 50)))`;
    const { text } = await host.run([process.execPath, '-e', script], { sandbox: withNetwork(host) });
    expect(text).toBe('403 connections from sandboxes are not served\n\n');
    expect((await fetch(url)).status).toBe(200);
  });
});

const OTHERS: readonly (readonly [what: string, words: readonly string[]])[] = [
  ['a server', ['serve']],
  ['an app server', ['app-server', '--listen', 'ws://127.0.0.1:0']],
  ['a console', ['console']],
  ['MCP', ['mcp', '--listen', 'http://127.0.0.1:0']],
];

describe.each(identities)('other servers of ours on the machine, as $name', (identity) => {
  const shared = sharedServer(identity);

  test.each(shareOf(identity, OTHERS))(
    '%s that confines nobody does not serve what another server confines',
    async (what, words) => {
      const host = shared();
      const [command = '', ...args] = words;
      const env = { HOME: host.place.base, EXECWIRE_HOME: host.place.base };
      await using other = await ServerProcess.start({ command, args, env, wrapper: asIdentity(identity) });
      const [url = ''] = /\w+:\/\/[^/\s]+/.exec(other.url) ?? [];
      const visit = `fetch('${url}').then(({ status }) => console.log(status))`;
      const isPage = url.startsWith('http');
      const argv = isPage ? [process.execPath, '-e', visit] : upgrade({ server: { url } }, '127.0.0.1');
      const outside = `out ${what}`;
      await host.client.call('process/start', host.params(outside, argv, { sandbox: undefined }));
      await host.client.closedEvents(outside);
      expect(host.client.output(outside).toString()).toMatch(isPage ? /^[24]0[01]\n/ : /^101 /);
      const { text } = await host.run(argv, { sandbox: withNetwork(host) });
      expect(text).toBe(isPage ? '403\n' : REFUSED);
    },
  );

  test('nor do they do anything for one that sent its requests and left', async () => {
    const host = shared();
    await using other = await ServerProcess.start({ wrapper: asIdentity(identity) });
    const marker = join(host.place.outside, 'marker');
    const argv = upgrade({ server: other }, '127.0.0.1', ['', JSON.stringify(touching(marker))]);
    for (let n = 0; n < TRIES; n += 1) await host.run(argv, { sandbox: withNetwork(host) });
    // Whatever was accepted before this is done by now.
    const { client } = await dialWire(other.url);
    await client.handshake();
    await client.call('process/start', startParams('last', ['sleep', '0.2']));
    await client.closedEvents('last');
    expect(existsSync(marker)).toBe(false);
    client.close();
  });
});

test('an app server does not serve what it confines, either', async () => {
  await using app = await WebSocketApp.start();
  const { client } = await app.connect();
  await client.initialize();
  const { stdout } = await client.call('command/exec', {
    command: upgrade({ server: app }, '127.0.0.1'),
    sandboxPolicy: { type: 'workspaceWrite', networkAccess: true },
  });
  expect(stdout).toBe(REFUSED);
});

describe.each(identities)('secrets of our own, as $name', (identity) => {
  test('the files a server was given are in no sandbox', async () => {
    const place = new Place(identity);
    const token = put(identity, join(place.workspace, 'token'), 'open-sesame-and-then-some');
    const home = join(place.base, 'home');
    mkdirSync(home);
    put(identity, join(home, 'environments.toml'), '');
    const args = ['--ws-auth', 'capability-token', '--ws-token-file', token];
    await using host = await ConfinedServer.start(identity, {
      place,
      args,
      token: 'open-sesame-and-then-some',
      env: { EXECWIRE_HOME: home },
    });
    const script = `cat ${token} ${home}/environments.toml >/dev/null && echo shown; mv ${token} ${token}2 && echo moved; ls ${home}`;
    const denied = /^(?!.*shown)(?!.*moved)/s;
    expect((await host.run(sh(script))).text).toMatch(denied);
    expect((await host.run(sh(script), { sandbox: withNetwork(host) })).text).toMatch(denied);
    const everything = { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' };
    const { text } = await host.run(sh(script), { sandbox: { ...host.sandbox(), permissions: everything } });
    expect(text).toMatch(denied);
    const writable = {
      type: 'managed',
      file_system: { type: 'restricted', entries: [special('root', 'write')] },
      network: 'enabled',
    };
    const all = await host.run(sh(script), { sandbox: { ...host.sandbox(), permissions: writable } });
    expect(all.text).toMatch(denied);
  });

  test('a unix socket of ours is not reached, even where unix sockets are', async () => {
    const place = new Place(identity);
    const socket = join(place.workspace, 'socket');
    const args = ['--listen', 'ws://127.0.0.1:0', '--listen', `unix://${socket}`];
    await using host = await ConfinedServer.start(identity, { place, args });
    const script = `require('node:net').connect('${socket}').on('connect', () => { console.log('open'); process.exit(); }).on('error', (e) => console.log('closed'))`;
    const outside = host.params('out', [process.execPath, '-e', script], { sandbox: undefined });
    await host.client.call('process/start', outside);
    await host.client.closedEvents('out');
    expect(host.client.output('out').toString()).toBe('open\n');
    const sandbox = withNetwork(host, { unixSockets: 'allowed' });
    expect((await host.run([process.execPath, '-e', script], { sandbox })).text).toBe('closed\n');
  });
});
