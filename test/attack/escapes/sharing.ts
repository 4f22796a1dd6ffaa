import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { gone, pidsWithArgument } from '../../harness/processes.js';
import type { Theme } from './escape.js';
import type { Site } from './site.js';
import { signalOne } from '../../../testkit/signal-one.mjs';

/** What an attempt leaves behind is found by every process of the machine, so other runs need other names. */
const leftName = ({ place }: Site): string => `${basename(place.base)}-left`;

/** Whether a System V object of the attacker exists on the host. Removes it. */
const leftOnHost =
  (kind: 'shm' | 'sem' | 'msg', option: string) =>
  ({ leftKey }: Site): boolean => {
    const there = readFileSync(`/proc/sysvipc/${kind}`, 'utf8')
      .split('\n')
      .some((line) => line.trim().startsWith(`${leftKey} `));
    if (there) execFileSync('ipcrm', [option, String(leftKey)]);
    return there;
  };

/** Ways to what processes share without a file: memory, queues, terminals, descriptors, locks. */
export const sharing: Theme = {
  name: 'what processes share',
  escapes: [
    {
      name: 'read memory of the host',
      tries: `
libc.shmat.restype = c_void_p
identity = check(libc.shmget(sysvKey, 0, 0))
if ctypes.string_at(libc.shmat(identity, None, 0), len(secret)).decode() == secret: won('the secret')`,
    },
    {
      name: 'read memory of the host by its identity',
      tries: `
libc.shmat.restype = c_void_p
# They are counted up for as long as the machine runs: the host's is shortly before the next one.
newest = check(libc.shmget(0, 4096, 0o1600))
libc.shmctl(newest, 0, None)
for identity in range(newest, max(newest - 4096, -1), -1):
    area = libc.shmat(identity, None, 0o10000)
    if area not in (None, 2 ** 64 - 1) and ctypes.string_at(area, len(secret)).decode(errors='replace') == secret: won('the secret')`,
    },
    {
      name: 'leave memory behind',
      tries: `check(libc.shmget(leftKey, 4096, 0o1666))`,
      seen: leftOnHost('shm', '-M'),
    },
    {
      name: 'leave a semaphore behind',
      tries: `check(libc.semget(leftKey, 1, 0o1666))`,
      seen: leftOnHost('sem', '-S'),
    },
    {
      name: 'leave a queue behind',
      tries: `check(libc.msgget(leftKey, 0o1666))`,
      seen: leftOnHost('msg', '-Q'),
    },
    { name: 'open a queue of the host', tries: `check(libc.mq_open(queue.encode(), os.O_RDWR)); won()` },
    {
      name: 'a queue for the host',
      tries: `check(libc.mq_open(f'/{os.path.basename(base)}-left'.encode(), os.O_RDWR | os.O_CREAT, 0o666, None))`,
      seen: (site) => {
        const script = `import ctypes; exit(ctypes.CDLL(None).mq_unlink(b'/${leftName(site)}') != 0)`;
        try {
          execFileSync('/usr/bin/python3', ['-Ic', script]);
          return true;
        } catch {
          return false;
        }
      },
    },
    {
      name: 'named memory for the host',
      tries: `put(f'/dev/shm/{os.path.basename(base)}-left')`,
      seen: (site) => {
        const path = `/dev/shm/${leftName(site)}`;
        const there = existsSync(path);
        rmSync(path, { force: true });
        return there;
      },
    },
    {
      name: 'type on the terminal of the server',
      ownTerminal: true,
      tries: `fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), termios.TIOCSTI, b'x'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'type on a stream',
      ownTerminal: true,
      tries: `each([0, 1, 2], lambda fd: fcntl.ioctl(fd, termios.TIOCSTI, b'x')); won()`,
      unconfined: 'varies',
    },
    {
      name: 'paste on the console',
      ownTerminal: true,
      tries: `each([0, 1, 2], lambda fd: fcntl.ioctl(fd, 0x541c, b'\\x03')); won()`,
      unconfined: 'varies',
    },
    {
      name: 'steal a terminal',
      ownTerminal: true,
      tries: `os.setsid(); each([0, 1, 2], lambda fd: fcntl.ioctl(fd, termios.TIOCSCTTY, 1)); won()`,
      unconfined: 'varies',
    },
    {
      name: 'terminals of the host',
      tries: `each(glob.glob('/dev/pts/[0-9]*'), opens)`,
      unconfined: 'varies',
    },
    {
      name: 'descriptors left open',
      tries: `
if FOUND_OPEN: won(FOUND_OPEN)`,
      unconfined: 'varies',
    },
    {
      name: 'a stream that is a directory',
      tries: `
for fd in (0, 1, 2):
    if stat.S_ISDIR(os.fstat(fd).st_mode) or stat.S_ISBLK(os.fstat(fd).st_mode): won(fd)`,
      unconfined: 'varies',
    },
    {
      name: 'sockets among the streams',
      tries: `
for fd in (0, 1, 2):
    if not stat.S_ISSOCK(os.fstat(fd).st_mode): continue
    copy = socket.socket(fileno=os.dup(fd))
    copy.connect(unixStream)
    won(fd)`,
      unconfined: 'varies',
    },
    {
      name: 'the socket of the helper',
      tries: `
for path in glob.glob('/proc/[0-9]*/fd/*'):
    try: target = os.readlink(path)
    except OSError: continue
    if target.startswith('socket:') and f'/{os.getpid()}/' not in path: won(path)`,
      unconfined: 'varies',
    },
    {
      name: 'the socket table of the host',
      tries: `
if os.path.basename(unixStream) in open('/proc/net/unix').read(): won()`,
      // It is that of the network it is in: a name, not a way in.
      allowedUnder: ['network'],
    },
    {
      name: 'a namespace of the host among its own',
      tries: `
for name in ('pid', 'mnt', 'ipc', 'uts'):
    if os.readlink(f'/proc/self/ns/{name}') == namespaces[name]: won(name)`,
    },
    {
      name: 'outlive the program',
      // Left running in a session of its own, with nothing of its parent's open.
      tries: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(0, 64):
            try: os.close(fd)
            except OSError: pass
        os.execv('/bin/sleep', ['sleep', f'1000.{hostPid}77'])
    os._exit(0)`,
      seen: async (site, _slug, { confined }) => {
        const mark = `1000.${String(site.names.hostPid)}77`;
        // The kernel takes a moment to end everything that was in a sandbox.
        if (confined) await gone(mark, 2_000).catch(() => undefined);
        const left = pidsWithArgument(mark);
        for (const pid of left) signalOne(pid, 'SIGKILL');
        return left.length > 0;
      },
      // Whoever is not confined may end by the time somebody looks: the tree is ended with it.
      unconfined: 'varies',
    },
  ],
};
