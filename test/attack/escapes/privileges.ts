import type { Escape, Theme } from './escape.js';

/** Waits until the traced child stands before or behind a call, and changes which call it is. */
const SWAP_CALL = `
def traced(action):
    child = os.fork()
    if child == 0:
        libc.ptrace(0, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        action()
        os._exit(0)
    os.waitpid(child, 0)
    return child
ORIG_RAX, RAX, RDI = 15 * 8, 10 * 8, 14 * 8
def peek(child, offset): return libc.ptrace(3, child, c_void_p(offset), None)
def poke(child, offset, value): check(libc.ptrace(6, child, c_void_p(offset), c_void_p(value)))
`;

/** A call that a tracer swaps for another while the filter may have passed it already. */
const swapped = (name: string, { number, argument }: { number: number; argument: number }): Escape => ({
  name,
  tries: `${SWAP_CALL}
child = traced(lambda: call('getpid', ${argument}))
while True:
    libc.ptrace(24, child, None, None)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status): raise OSError(errno.EPERM, 'the child ended')
    if peek(child, ORIG_RAX) == 39:
        poke(child, ORIG_RAX, ${number})
        libc.ptrace(24, child, None, None)
        os.waitpid(child, 0)
        result = peek(child, RAX)
        os.kill(child, signal.SIGKILL)
        if result >= 0: won(result)
        raise OSError(-result, 'refused')`,
  unconfined: 'varies',
});

/** A call through the gate of 32-bit programs, where the numbers mean other calls. */
const oldGate = (name: string, number: number, argument = 0): Escape => ({
  name,
  // push rbx; mov eax, number; mov ebx, argument; int 0x80; cdqe; pop rbx; ret
  tries: `
code = b'\\x53\\xb8' + struct.pack('<I', ${number}) + b'\\xbb' + struct.pack('<I', ${argument}) + b'\\xcd\\x80\\x48\\x98\\x5b\\xc3'
result = machine_code(code)
if result >= 0: won(result)
raise OSError(-result, 'refused')`,
  unconfined: 'varies',
});

/** Ways to more rights, or around the filter that takes them. */
export const privileges: Theme = {
  name: 'privileges',
  escapes: [
    ...['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map(
      (set): Escape => ({
        name: `capabilities in ${set}`,
        tries: `
if int(re.search(r'${set}:\\s*(\\w+)', open('/proc/self/status').read())[1], 16) != 0: won()`,
        unconfined: set === 'CapPrm' || set === 'CapEff' ? 'worksForRoot' : 'varies',
      }),
    ),
    {
      name: 'new privileges',
      tries: `
if 'NoNewPrivs:\\t1' not in open('/proc/self/status').read(): won()`,
    },
    {
      name: 'take new privileges back',
      tries: `check(libc.prctl(38, 0, 0, 0, 0)); won()`,
      unconfined: 'varies',
    },
    {
      name: 'no filter',
      tries: `
if 'Seccomp:\\t2' not in open('/proc/self/status').read(): won()`,
      unconfined: 'varies',
    },
    {
      name: 'switch the filter off',
      tries: `check(libc.prctl(22, 0, 0, 0, 0)); won()`,
      unconfined: 'varies',
    },
    {
      name: 'raise capabilities',
      tries: `
header = create_string_buffer(struct.pack('Ii', 0x20080522, 0))
call('capset', header, create_string_buffer(struct.pack('IIIIII', 1 << 21, 1 << 21, 0, 0, 0, 0))); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'raise an ambient capability',
      tries: `check(libc.prctl(47, 2, c_ulong(21), c_ulong(0), c_ulong(0))); won()`,
      unconfined: 'varies',
    },
    {
      name: 'change the rules about root',
      tries: `check(libc.prctl(28, c_ulong(0))); won()`,
      unconfined: 'varies',
    },
    { name: 'become root', tries: `os.setuid(0); won() if foreign else None`, unconfined: 'varies' },
    {
      name: 'become somebody else',
      tries: `os.setresuid(12345, 12345, 12345); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'join groups', tries: `os.setgroups([0, 1, 2, 3]); won()`, unconfined: 'worksForRoot' },
    {
      name: 'give a file away',
      tries: `put(f'{inside}/mine'); os.chown(f'{inside}/mine', 12345, 12345); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'run a program that belongs to root with its rights',
      tries: `
if run(suidProgram, '-u').strip() == '0' and os.getuid() != 0: won()`,
      unconfined: 'varies',
    },
    {
      name: 'leave a program with rights for later',
      tries: `
shutil.copy('/usr/bin/id', f'{root}/id')
os.chown(f'{root}/id', 0, 0)
os.chmod(f'{root}/id', 0o4755)
if foreign: won()`,
      unconfined: 'varies',
    },
    {
      name: 'a capability in a file',
      tries: `
put(f'{root}/program')
os.setxattr(f'{root}/program', 'security.capability', struct.pack('<IIIII', 0x02000001, 1 << 21, 0, 0, 0)); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'a trusted attribute',
      tries: `put(f'{root}/file'); os.setxattr(f'{root}/file', 'trusted.attack', b'x'); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'commands that lend rights',
      tries: `
for argv in (['su', '-c', 'true'], ['sudo', '-n', 'true'], ['pkexec', 'true']):
    try: run(*argv)
    except (OSError, subprocess.TimeoutExpired) as error: failure = error
    else: won(argv[0])
raise failure`,
      unconfined: 'varies',
    },
    {
      name: 'more of a hard limit',
      tries: `
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard + 1)); won()`,
      unconfined: 'varies',
    },
    { name: 'a better priority', tries: `os.nice(-1); won()`, unconfined: 'worksForRoot' },
    {
      name: 'real time',
      tries: `os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'lock all memory',
      tries: `
resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); won()`,
      unconfined: 'varies',
    },
    oldGate('the old gate', 20),
    oldGate('a namespace through the old gate', 310, 0x10000000),
    oldGate('a root through the old gate', 61),
    { name: 'the gate of x32', tries: `call(0x40000000 | 39); won()`, unconfined: 'varies' },
    {
      name: 'a socket through the gate of x32',
      tries: `call(0x40000000 | 41, 1, 1, 0); won()`,
      unconfined: 'varies',
    },
    {
      name: 'a namespace through the gate of x32',
      tries: `call(0x40000000 | 272, 0x10000000); won()`,
      unconfined: 'varies',
    },
    {
      name: 'a number beyond the lower half',
      tries: `call(272 | 1 << 32, 0x10000000); won()`,
      unconfined: 'varies',
    },
    swapped('a namespace by a tracer', { number: 272, argument: 0x1000_0000 }),
    swapped('a unix socket by a tracer', { number: 41, argument: 1 }),
    {
      name: 'an answer by a tracer of the filter',
      // A filter of its own hands the call to a tracer, which swaps it behind the other filter's back.
      tries: `${SWAP_CALL}
def filtered():
    program = b''.join(struct.pack('HBBI', *each) for each in [(0x20, 0, 0, 0), (0x15, 0, 1, 39), (6, 0, 0, 0x7ff00000), (6, 0, 0, 0x7fff0000)])
    buffer = create_string_buffer(program)
    libc.prctl(38, 1, 0, 0, 0)
    check(libc.prctl(22, 2, byref((c_uint64 * 2)(4, ctypes.addressof(buffer)))))
    call('getpid', 0x10000000)
child = traced(filtered)
check(libc.ptrace(0x4200, child, None, c_void_p(0x80)))
libc.ptrace(7, child, None, None)
_, status = os.waitpid(child, 0)
if not os.WIFSTOPPED(status): raise OSError(errno.EPERM, 'the child ended')
poke(child, ORIG_RAX, 272)
libc.ptrace(24, child, None, None)
os.waitpid(child, 0)
result = peek(child, RAX)
os.kill(child, signal.SIGKILL)
if result >= 0: won(result)
raise OSError(-result, 'refused')`,
      unconfined: 'varies',
    },
    {
      name: 'a program without a file that has rights',
      tries: `
fd = call('memfd_create', 'x', 0)
os.write(fd, open('/usr/bin/id', 'rb').read())
os.fchmod(fd, 0o4755)
if run(f'/proc/self/fd/{fd}', '-u', pass_fds=[fd]).strip() == '0' and os.getuid() != 0: won()`,
      unconfined: 'varies',
    },
    {
      name: 'a mapping at the start of memory',
      tries: `
area = libc.mmap(None, c_ulong(4096), 3, 0x32, -1, c_long(0))
if area in (None, 0): won()
raise OSError(errno.EPERM, 'not there')`,
      unconfined: 'varies',
    },
  ],
};
