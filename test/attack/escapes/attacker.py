"""Tries to get out of wherever it runs.

Usage: attacker.py TASKS.json. Every attempt of the file is Python that runs in a process of its own, with the names below at
hand. It calls won(evidence) once it has what it wanted; an exception means that it was held back. One line of JSON for
each attempt tells how it went.
"""
import ctypes, errno, fcntl, glob, json, mmap, os, re, resource, select, shutil, signal, socket, stat, struct
import subprocess, sys, termios, threading, time
from ctypes import byref, c_char_p, c_int, c_long, c_uint, c_uint64, c_ulong, c_void_p, create_string_buffer

LIMIT_SECONDS = 10
# What was open when we came, beside the three streams.
FOUND_OPEN = [fd for fd in range(3, 1024) if os.path.exists(f'/proc/self/fd/{fd}')]
ARM = os.uname().machine == 'aarch64'
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x400
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = c_long
libc.ptrace.restype = c_long
libc.ptrace.argtypes = [c_long, c_long, c_void_p, c_void_p]
libc.mmap.restype = c_void_p

# Numbers on x86-64 and arm64. Calls since Linux 5.1 share one number.
CALLS = {
    'socket': (41, 198), 'socketpair': (53, 199), 'clone': (56, 220), 'ptrace': (101, 117), 'syslog': (103, 116),
    'pivot_root': (155, 41), 'adjtimex': (159, 171), 'chroot': (161, 51), 'acct': (163, 89), 'mount': (165, 40),
    'umount2': (166, 39), 'swapon': (167, 224), 'swapoff': (168, 225), 'reboot': (169, 142), 'iopl': (172, None),
    'ioperm': (173, None), 'init_module': (175, 105), 'delete_module': (176, 106), 'quotactl': (179, 60),
    'tkill': (200, 130), 'kexec_load': (246, 104), 'add_key': (248, 217), 'request_key': (249, 218),
    'keyctl': (250, 219), 'ioprio_set': (251, 30), 'tgkill': (234, 131), 'fchownat': (260, 54), 'unshare': (272, 97),
    'get_robust_list': (274, 100), 'move_pages': (279, 239), 'rt_sigqueueinfo': (129, 138), 'capset': (126, 91),
    'perf_event_open': (298, 241), 'name_to_handle_at': (303, 264), 'open_by_handle_at': (304, 265),
    'setns': (308, 268), 'process_vm_readv': (310, 270), 'process_vm_writev': (311, 271), 'kcmp': (312, 272),
    'finit_module': (313, 273), 'renameat2': (316, 276), 'seccomp': (317, 277), 'bpf': (321, 280),
    'userfaultfd': (323, 282), 'mq_open': (240, 180), 'fanotify_init': (300, 262), 'sethostname': (170, 161),
    'pidfd_send_signal': (424, 424), 'io_uring_setup': (425, 425), 'open_tree': (428, 428), 'move_mount': (429, 429),
    'fsopen': (430, 430), 'fsconfig': (431, 431), 'fsmount': (432, 432), 'fspick': (433, 433), 'pidfd_open': (434, 434),
    'clone3': (435, 435), 'openat2': (437, 437), 'pidfd_getfd': (438, 438), 'process_madvise': (440, 440),
    'mount_setattr': (442, 442), 'quotactl_fd': (443, 443), 'memfd_secret': (447, None), 'fchmodat2': (452, 452),
    'open_tree_attr': (467, 467), 'getpid': (39, 172), 'memfd_create': (319, 279), 'execveat': (322, 281),
    'finit': (313, 273), 'kexec_file_load': (320, 294), 'shmget': (29, 194),
}


class Won(BaseException):
    """Thrown by an attempt that got what it wanted."""


def won(evidence='it worked'):
    raise Won(str(evidence))


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def plain(value):
    if isinstance(value, str):
        return c_char_p(value.encode())
    return c_long(value) if isinstance(value, int) else value


def call(name, *args):
    """A system call by name or number; numbers are passed on in full width."""
    number = CALLS[name][1 if ARM else 0] if isinstance(name, str) else name
    if number is None:
        raise OSError(errno.ENOSYS, name)
    return check(libc.syscall(c_long(number), *map(plain, args)))


def allowed(name, *args, refusal=(errno.EPERM, errno.EACCES, errno.ENOSYS)):
    """Wins if the kernel has anything else to say than that it is not allowed. For calls that must not really succeed."""
    try:
        call(name, *args)
    except OSError as error:
        if error.errno in refusal:
            raise
    won(name)


def put(path, text='x', flags=os.O_WRONLY | os.O_CREAT, dir_fd=None):
    fd = os.open(path, flags, 0o666, dir_fd=dir_fd)
    os.write(fd, text.encode())
    os.close(fd)


def opens(path, flags=os.O_WRONLY):
    """Wins by opening alone; nothing is written. For what must not be changed even where nothing holds us back."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
    won(path)


def run(*argv, **more):
    """Runs a command; a failure is a defeat."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, **more)
    if done.returncode != 0:
        raise OSError(errno.EPERM, f'{argv[0]}: {done.stderr.strip()[-200:]}')
    return done.stdout


def mount(source, target, kind=None, flags=0, data=None):
    check(libc.mount(*(None if each is None else each.encode() for each in (source, target, kind)), c_ulong(flags), data))


def unshare(flags):
    call('unshare', flags)


def others():
    """Every process that can be seen but this one."""
    return [pid for pid in os.listdir('/proc') if pid.isdigit() and int(pid) != os.getpid()]


def each(paths, action):
    """Tries all; fails with the last reason if none works."""
    failure = FileNotFoundError(errno.ENOENT, 'nothing to try')
    for path in paths:
        try:
            return action(path)
        except OSError as error:
            failure = error
    raise failure


def contents(paths):
    """All that can be read of these files. Processes end while one looks at them."""
    found = b''
    for path in paths:
        try:
            with open(path, 'rb') as file:
                found += file.read()
        except OSError:
            pass
    return found


def machine_code(code):
    """Runs bytes as a function without arguments."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def attempt(task, shared):
    """Runs in a process of its own. Returns what to tell."""
    names = dict(globals(), **shared, **task['names'])
    names['outside'] = os.path.join(shared['outsideBase'], task['slug'])
    names['kept'] = os.path.join(names['outside'], 'kept')
    names['workspace'] = shared['workspaceBase']
    names['root'] = os.path.join(shared['workspaceBase'], task['slug'])
    names['inside'] = room(names['root'], task['slug'])
    os.chdir(names['inside'])
    try:
        exec(compile(task['tries'], task['name'], 'exec'), names)
    except Won as evidence:
        return {'won': str(evidence)}
    except BaseException as error:
        reason = errno.errorcode.get(error.errno, str(error)) if isinstance(error, OSError) and error.errno else ''
        return {'held': reason or f'{type(error).__name__}: {error}'}
    return {'held': 'it did not claim to have won'}


def room(root, slug):
    """Somewhere to write, under every policy."""
    if os.path.isdir(root) and not os.statvfs(root).f_flag & os.ST_RDONLY:
        return root
    path = f'/dev/shm/execwire-attack-{slug}-{os.getpid()}'
    os.makedirs(path, exist_ok=True)
    return path


def apart(task, shared):
    """Gives an attempt a process of its own and waits for it, not for ever."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        os.setpgid(0, 0)
        signal.alarm(LIMIT_SECONDS)
        if shared['privateMounts']:
            # What is mounted where nothing holds it back goes with whoever mounted it.
            unshare(0x00020000)
            mount('none', '/', None, 0x40000 | 0x4000)
        os.write(writing, json.dumps(attempt(task, shared)).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    said = b''
    while piece := os.read(reading, 65536):
        said += piece
        if said.endswith(b'}'):
            break
    os.close(reading)
    _, status = os.waitpid(pid, 0)
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
    if not said:
        return {'held': f'killed by {signal.Signals(os.WTERMSIG(status)).name}' if os.WIFSIGNALED(status) else 'gone'}
    return json.loads(said)


def main():
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    for task in plan['tasks']:
        print(json.dumps({'slug': task['slug'], **apart(task, plan['shared'])}), flush=True)


main()
