import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
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
  const said = async (word: string): Promise<void> => {
    for (let line = await lines.next(); line.value !== word; line = await lines.next())
      if (line.done) throw new Error(`it never said ${word}`);
  };
  await said('READY=1');
  const stopping = said('STOPPING=1');
  await server.stop();
  await stopping;
});

/**
 * Does what systemd does for a service with a store of descriptors: keeps what it is sent, and passes it on to the next
 * start. `kill` ends the service with SIGKILL and starts it again, `with ARGUMENT` starts it with one more, `stop` asks it to end.
 */
const PYTHON = '/usr/bin/python3';
const MANAGER = `
import array, os, signal, socket, sys
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(sys.argv[1])
command = sys.argv[2:]
store = {}
def say(line): print(line, flush=True)
def start(more=[]):
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(into, 1)
        keep = list(store.values())
        for index, fd in enumerate(keep): os.dup2(fd, 100 + index)
        for index in range(len(keep)): os.dup2(100 + index, 3 + index, inheritable=True)
        os.closerange(3 + len(keep), 200)
        env = dict(os.environ, NOTIFY_SOCKET=sys.argv[1], LISTEN_PID=str(os.getpid()),
                   LISTEN_FDS=str(len(keep)), LISTEN_FDNAMES=':'.join(store))
        os.execve(command[0], command + more, env)
    os.close(into)
    say('url ' + os.fdopen(out, buffering=1).readline().strip())
    while True:
        data, control, *_ = notify.recvmsg(4096, 1024)
        fields = dict(line.split('=', 1) for line in data.decode().splitlines())
        if 'FDSTORE' in fields:
            fds = array.array('i'); fds.frombytes(control[0][2]); store[fields['FDNAME']] = fds[0]
        if 'FDSTOREREMOVE' in fields: os.close(store.pop(fields['FDNAME']))
        if 'READY' in fields: break
    say('stored %d' % len(store))
    return pid
pid = start()
for line in sys.stdin:
    words = line.split()
    os.kill(pid, signal.SIGTERM if words[0] == 'stop' else signal.SIGKILL)
    os.waitpid(pid, 0)
    if words[0] == 'stop': break
    pid = start(words[1:])
notify.setblocking(False)
try:
    while True:
        fields = dict(line.split('=', 1) for line in notify.recv(4096).decode().splitlines())
        if 'FDSTOREREMOVE' in fields: os.close(store.pop(fields['FDNAME']))
except BlockingIOError: say('stored %d' % len(store))
`;

test.skipIf(!existsSync(PYTHON))(
  'a service manager keeps its sockets when it is killed, and nothing else',
  { timeout: 90_000 },
  async () => {
    using folder = new TestFolder();
    const serve = ['serve', '--durable', folder.file('state'), '--log-level', 'silent'];
    const command = [process.execPath, bin, ...serve, '--listen', 'ws://127.0.0.1:0'];
    const manager = spawn(PYTHON, ['-c', MANAGER, folder.file('notify'), ...command], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void manager.stdin.end('stop\n'));
    const lines = createInterface({ input: manager.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => String((await lines.next()).value);
    const first = (await next()).slice('url '.length);
    expect(await next()).toBe('stored 1');
    await using environment = await openEnvironment(first);
    const program = await environment.start({ argv: ['sleep', '1000'], cwd: '/' });
    manager.stdin.write('kill\n');
    expect(await next()).toBe(`url ${first}`);
    expect(await next()).toBe('stored 1');
    // Programs end with their keeper, and nobody says how.
    expect(await program.wait()).toMatchObject({ kind: 'contactLost' });
    {
      await using again = await openEnvironment(first);
      expect(await (await again.start({ argv: ['echo', 'here'], cwd: '/' })).text()).toBe('here\n');
    }
    // Another command line may mean another address.
    manager.stdin.write('kill --session-ttl=29\n');
    expect(await next()).not.toBe(`url ${first}`);
    expect(await next()).toBe('stored 1');
    manager.stdin.end('stop\n');
    expect(await next()).toBe('stored 0');
  },
);

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
