import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { bin, endChild, firstLine } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { createInterface } from 'node:readline';
import { TestFolder } from '../harness/processes.js';

/** Prints every datagram that arrives at a unix socket, which Node cannot receive. */
const PERL = '/usr/bin/perl';
const RECEIVER = `
  socket(S, PF_UNIX, SOCK_DGRAM, 0) and bind(S, sockaddr_un($ARGV[0])) or die;
  $| = 1;
  print "bound\\n";
  do { recv(S, $said, 4096, 0); print "$said\\n" } until $said =~ /STOPPING/;
`;

test.skipIf(!existsSync(PERL))('a service manager learns when it is ready, and when it stops', async () => {
  using folder = new TestFolder();
  const path = folder.file('notify');
  const receiver = spawn(PERL, ['-MSocket', '-e', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('bound');
  const args = ['--durable', folder.file('state')];
  const server = await ServerProcess.start({ args, env: { NOTIFY_SOCKET: path } });
  expect((await lines.next()).value).toBe('READY=1');
  await server.stop();
  expect((await lines.next()).value).toBe('STOPPING=1');
});

test('sockets that somebody else has opened are used', { timeout: 60_000 }, async () => {
  using folder = new TestFolder();
  const socket = createServer().listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  // The shell becomes the server, so that the variable names its process.
  const script = 'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" "$@"';
  const serve = [process.execPath, bin, 'serve', '--durable', folder.file('state'), '--log-level', 'silent'];
  const fd = Number(Reflect.get(Object(Reflect.get(socket, '_handle')), 'fd'));
  const stdio = ['ignore', 'pipe', 'inherit', fd] as const;
  const keeper = spawn('/bin/sh', ['-c', script, ...serve], { stdio: [...stdio] });
  // Our copy would accept connections, too.
  socket.close();
  const url = `ws://127.0.0.1:${port}`;
  expect(await firstLine(keeper)).toBe(url);
  {
    await using environment = await openEnvironment(url);
    const argv = ['/bin/sh', '-c', 'echo "[$LISTEN_PID$LISTEN_FDS]"'];
    expect(await (await environment.start({ argv, cwd: '/' })).text()).toBe('[]\n');
  }
  expect(await endChild(keeper)).toBe(0);
});
