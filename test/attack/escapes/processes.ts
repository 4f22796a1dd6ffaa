import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import type { Escape, Theme } from './escape.js';
import type { Site } from './site.js';

/** The victim ends when it gets a signal. */
const isDead = async (site: Site, slug: string): Promise<boolean> => {
  const victim = site.victimOf(slug);
  const { pid } = victim;
  // A signal that was sent is delivered before the next look at the victim.
  const state = (() => {
    try {
      return /^State:\t(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
    } catch {
      return 'X';
    }
  })();
  return victim.exitCode !== null || victim.signalCode !== null || 'ZXT'.includes(state);
};

const killing = (name: string, tries: string): Escape => ({ name, tries, victim: true, seen: isDead });

/** A field of the stat line of the victim, counted as in proc(5). */
const statOf = (site: Site, slug: string, field: number): string => {
  const line = readFileSync(`/proc/${site.victimOf(slug).pid}/stat`, 'utf8');
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[field - 3] ?? '';
};

/** Ways to a process of the host that belongs to the same user, and to what it shares. */
export const processes: Theme = {
  name: 'processes of the host',
  escapes: [
    killing('kill', `os.kill(victim, signal.SIGTERM)`),
    killing('kill a group', `os.killpg(victim, signal.SIGTERM); os.kill(victim, signal.SIGTERM)`),
    killing('kill a thread', `call('tkill', victim, signal.SIGTERM)`),
    killing('kill a thread of a group', `call('tgkill', victim, victim, signal.SIGTERM)`),
    killing(
      'kill by descriptor',
      `call('pidfd_send_signal', call('pidfd_open', victim, 0), signal.SIGTERM, 0, 0)`,
    ),
    killing(
      'kill through proc',
      `call('pidfd_send_signal', os.open(f'/proc/{victim}', os.O_RDONLY), signal.SIGTERM, 0, 0)`,
    ),
    killing(
      'queue a signal',
      `call('rt_sigqueueinfo', victim, signal.SIGTERM, create_string_buffer(struct.pack('iii', signal.SIGTERM, 0, -1) + bytes(116)))`,
    ),
    killing('stop', `os.kill(victim, signal.SIGSTOP)`),
    killing(
      'a signal for the owner of a pipe',
      `
reading, writing = os.pipe()
fcntl.fcntl(reading, fcntl.F_SETOWN, victim)
fcntl.fcntl(reading, 10, signal.SIGTERM)
fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
os.write(writing, b'x')`,
    ),
    killing('by command', `run('kill', str(victim))`),
    {
      name: 'attach',
      tries: `check(libc.ptrace(16, hostPid, None, None)); os.waitpid(hostPid, 0x40000000); libc.ptrace(17, hostPid, None, None); won()`,
    },
    { name: 'seize', tries: `check(libc.ptrace(0x4206, hostPid, None, None)); won()` },
    {
      name: 'read memory',
      tries: `
buffer = create_string_buffer(len(secret))
here = (c_ulong * 2)(ctypes.addressof(buffer), len(secret))
there = (c_ulong * 2)(address, len(secret))
call('process_vm_readv', hostPid, here, 1, there, 1, 0)
if buffer.raw.decode() == secret: won('the secret')`,
    },
    {
      name: 'write memory',
      tries: `
buffer = create_string_buffer(secret.encode(), len(secret))
here = (c_ulong * 2)(ctypes.addressof(buffer), len(secret))
there = (c_ulong * 2)(address, len(secret))
call('process_vm_writev', hostPid, here, 1, there, 1, 0); won()`,
    },
    {
      name: 'read memory through proc',
      tries: `
fd = os.open(f'/proc/{hostPid}/mem', os.O_RDONLY)
if os.pread(fd, len(secret), address).decode() == secret: won('the secret')`,
    },
    { name: 'write memory through proc', tries: `os.open(f'/proc/{hostPid}/mem', os.O_RDWR); won()` },
    {
      name: 'advise about memory',
      tries: `allowed('process_madvise', call('pidfd_open', hostPid, 0), 0, 0, 20, 0)`,
      unconfined: 'worksForRoot',
    },
    { name: 'move pages', tries: `call('move_pages', hostPid, 0, 0, 0, 0, 0); won()` },
    {
      name: 'take a descriptor',
      tries: `call('pidfd_getfd', call('pidfd_open', hostPid, 0), descriptor, 0); won()`,
    },
    { name: 'open its descriptor', tries: `opens(f'/proc/{hostPid}/fd/{descriptor}', os.O_RDWR)` },
    { name: 'write through its root', tries: `put(f'/proc/{hostPid}/root{outside}/new')` },
    {
      name: 'write through its directory',
      tries: `put(f'/proc/{hostPid}/cwd/../outside/{os.path.basename(outside)}/new')`,
    },
    { name: 'compare resources', tries: `call('kcmp', os.getpid(), hostPid, 1, 0, 0); won()` },
    {
      name: 'read its list of locks',
      tries: `call('get_robust_list', hostPid, byref(c_ulong()), byref(c_ulong())); won()`,
    },
    {
      name: 'change its limits',
      tries: `resource.prlimit(victim, resource.RLIMIT_NOFILE, (77, 77))`,
      victim: true,
      seen: (site, slug) =>
        /^Max open files +77 /m.test(readFileSync(`/proc/${site.victimOf(slug).pid}/limits`, 'utf8')),
    },
    {
      name: 'slow it down',
      tries: `os.setpriority(os.PRIO_PROCESS, victim, 19)`,
      victim: true,
      seen: (site, slug) => statOf(site, slug, 19) === '19',
    },
    {
      name: 'slow down everything of the user',
      tries: `os.setpriority(os.PRIO_USER, os.getuid(), 19)`,
      victim: true,
      seen: (site, slug) => statOf(site, slug, 19) === '19',
      unconfined: 'notTried',
    },
    {
      name: 'let the disk wait for everything of the user',
      tries: `call('ioprio_set', 3, os.getuid(), 3 << 13)`,
      victim: true,
      seen: (site, slug) => execFileSync('ionice', ['-p', String(site.victimOf(slug).pid)]).includes('idle'),
      unconfined: 'notTried',
    },
    {
      name: 'take it off its processors',
      tries: `os.sched_setaffinity(victim, {0}); won()`,
      victim: true,
    },
    {
      name: 'schedule it as idle',
      tries: `os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0))`,
      victim: true,
      seen: (site, slug) => statOf(site, slug, 41) === '5',
    },
    {
      name: 'offer it to be killed',
      tries: `put(f'/proc/{victim}/oom_score_adj', '999', flags=os.O_WRONLY)`,
      victim: true,
      seen: (site, slug) =>
        readFileSync(`/proc/${site.victimOf(slug).pid}/oom_score_adj`, 'utf8').trim() === '999',
    },
    { name: 'read its environment', tries: `open(f'/proc/{hostPid}/environ').read(); won()` },
    { name: 'read its arguments', tries: `open(f'/proc/{hostPid}/cmdline').read(); won()` },
    {
      name: 'see processes of the host',
      tries: `
if secret.encode() in contents(f'/proc/{pid}/cmdline' for pid in others()): won()`,
    },
    {
      name: 'trace the first process',
      tries: `check(libc.ptrace(0x4206, 1, None, None)); won()`,
      unconfined: 'notTried',
    },
    {
      name: 'trace the first process with a wide number',
      tries: `call('ptrace', 0x4206, 1 | 1 << 32, 0, 0); won()`,
      unconfined: 'notTried',
    },
    {
      name: 'read memory of the first process',
      tries: `allowed('process_vm_readv', 1, 0, 0, 0, 0, 0, refusal=(errno.EPERM, errno.ESRCH))`,
      unconfined: 'varies',
    },
    {
      name: 'descriptors of the first process',
      tries: `os.listdir('/proc/1/fd'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'root of the first process',
      tries: `os.listdir('/proc/1/root/'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'memory of the first process',
      tries: `opens('/proc/1/mem', os.O_RDONLY)`,
      unconfined: 'varies',
    },
    {
      name: 'root of the first process by another way',
      tries: `os.listdir('/proc/self/root/proc/1/root/'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'root of a thread of the first process',
      tries: `os.listdir('/proc/1/task/1/root/'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'roots of all processes',
      tries: `each([f'/proc/{pid}/root{outside}/new' for pid in others()], put)`,
    },
    {
      name: 'directories of all processes',
      tries: `each([f'/proc/{pid}/cwd{"/.." * 20}{outside}/new' for pid in others()], put)`,
    },
    {
      name: 'descriptors of all processes',
      tries: `
def look(path):
    if os.path.isdir(path): put(f'{path}/..{outside}/new')
    raise OSError(errno.ENOTDIR, path)
each(glob.glob('/proc/[0-9]*/fd/*'), look)`,
      unconfined: 'varies',
    },
    {
      name: 'mapped files of all processes',
      tries: `each(glob.glob('/proc/[0-9]*/map_files/*')[:500], lambda path: os.open(path, os.O_WRONLY)); won()`,
      unconfined: 'varies',
    },
  ],
};
