import { existsSync, rmSync } from 'node:fs';
import type { Theme } from './escape.js';

/** Ways to change a file or directory outside the writable places. Success shows in the outside itself. */
export const writing: Theme = {
  name: 'writing outside',
  escapes: [
    { name: 'create', tries: `put(f'{outside}/new')` },
    { name: 'overwrite', tries: `put(kept)` },
    { name: 'append', tries: `put(kept, flags=os.O_WRONLY | os.O_APPEND)` },
    { name: 'truncate by path', tries: `os.truncate(kept, 0)` },
    { name: 'truncate while reading', tries: `os.open(kept, os.O_RDONLY | os.O_TRUNC)` },
    { name: 'remove', tries: `os.unlink(kept)` },
    { name: 'make a directory', tries: `os.mkdir(f'{outside}/directory')` },
    { name: 'remove a directory', tries: `os.rmdir(f'{outside}/empty')` },
    { name: 'rename', tries: `os.rename(kept, f'{outside}/other')` },
    { name: 'move in', tries: `os.rename(kept, f'{inside}/taken')` },
    { name: 'move out', tries: `put(f'{inside}/mine'); os.rename(f'{inside}/mine', f'{outside}/mine')` },
    {
      name: 'exchange names',
      tries: `put(f'{inside}/mine'); call('renameat2', AT_FDCWD, kept, AT_FDCWD, f'{inside}/mine', 2)`,
    },
    { name: 'change the mode', tries: `os.chmod(kept, 0o600)` },
    { name: 'change the owner', tries: `os.chown(kept, os.getuid(), os.getgid())` },
    { name: 'change times', tries: `os.utime(kept, (1, 1))` },
    { name: 'set an attribute', tries: `os.setxattr(kept, 'user.attack', b'x')` },
    { name: 'make a link', tries: `os.symlink('/', f'{outside}/link')` },
    { name: 'make a hard link outside', tries: `os.link(kept, f'{outside}/hard')` },
    { name: 'make a hard link inside', tries: `os.link(kept, f'{inside}/hard'); put(f'{inside}/hard')` },
    {
      name: 'link a descriptor inside',
      tries: `
fd = os.open(kept, os.O_RDONLY)
check(libc.linkat(fd, b'', AT_FDCWD, f'{inside}/hard'.encode(), AT_EMPTY_PATH))
put(f'{inside}/hard')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'link a descriptor by its number',
      tries: `
fd = os.open(kept, os.O_RDONLY)
check(libc.linkat(AT_FDCWD, f'/proc/self/fd/{fd}'.encode(), AT_FDCWD, f'{inside}/hard'.encode(), AT_SYMLINK_FOLLOW))
put(f'{inside}/hard')`,
    },
    { name: 'make a pipe', tries: `os.mkfifo(f'{outside}/pipe')` },
    { name: 'make a node', tries: `os.mknod(f'{outside}/node', stat.S_IFREG | 0o644)` },
    {
      name: 'bind a socket',
      tries: `socket.socket(socket.AF_UNIX).bind(f'{outside}/socket')`,
    },
    {
      name: 'a file without a name',
      tries: `
fd = os.open(outside, os.O_TMPFILE | os.O_RDWR, 0o644)
check(libc.linkat(AT_FDCWD, f'/proc/self/fd/{fd}'.encode(), AT_FDCWD, f'{outside}/named'.encode(), AT_SYMLINK_FOLLOW))`,
    },
    {
      name: 'write through shared memory',
      tries: `
with open(kept, 'r+b') as file:
    mmap.mmap(file.fileno(), 0)[0:1] = b'x'`,
    },
    {
      name: 'make a private mapping shared',
      tries: `
fd = os.open(kept, os.O_RDONLY)
area = libc.mmap(None, c_ulong(4096), 1, 1, fd, c_long(0))
check(libc.mprotect(c_void_p(area), c_ulong(4096), 3))
ctypes.memset(area, 120, 1)`,
      unconfined: 'varies',
    },
    {
      name: 'punch a hole',
      tries: `
fd = os.open(kept, os.O_RDWR)
check(libc.fallocate(fd, 3, c_long(0), c_long(4)))`,
    },
    {
      name: 'copy a range',
      tries: `
put(f'{inside}/from')
os.copy_file_range(os.open(f'{inside}/from', os.O_RDONLY), os.open(kept, os.O_WRONLY), 1)`,
    },
    {
      name: 'send a file',
      tries: `
put(f'{inside}/from')
os.sendfile(os.open(kept, os.O_WRONLY), os.open(f'{inside}/from', os.O_RDONLY), 0, 1)`,
    },
    {
      name: 'splice a pipe',
      tries: `
reading, writing = os.pipe()
os.write(writing, b'x')
os.splice(reading, os.open(kept, os.O_WRONLY), 1)`,
    },
    {
      name: 'splice into the page cache',
      // The order that once let a pipe write into a file open for reading.
      tries: `
fd = os.open(kept, os.O_RDONLY)
reading, writing = os.pipe()
size = fcntl.fcntl(writing, 1032)
for _ in range(size // 4096): os.write(writing, b'a' * 4096)
for _ in range(size // 4096): os.read(reading, 4096)
os.splice(fd, writing, 1, offset_src=0)
os.write(writing, b'HACKED')
if open(kept).read() != 'original': won('the page cache has changed')`,
      unconfined: 'varies',
    },
    {
      name: 'through a link to a directory',
      tries: `os.symlink(outside, f'{inside}/way'); put(f'{inside}/way/new')`,
    },
    { name: 'through a link to a file', tries: `os.symlink(kept, f'{inside}/way'); put(f'{inside}/way')` },
    {
      name: 'through a chain of links',
      tries: `
os.symlink(outside, f'{inside}/0')
for n in range(30): os.symlink(str(n), f'{inside}/{n + 1}')
put(f'{inside}/30/new')`,
    },
    {
      name: 'through a link that is swapped',
      tries: `
os.mkdir(f'{inside}/real')
os.symlink(outside, f'{inside}/fake')
swapper = os.fork()
while swapper == 0:
    call('renameat2', AT_FDCWD, f'{inside}/real', AT_FDCWD, f'{inside}/fake', 2)
    os.sched_yield()
for _ in range(2000):
    try: put(f'{inside}/real/new')
    except OSError: pass
    if os.path.exists(f'{outside}/new'): break
    # Both get their turns on a busy machine, too.
    os.sched_yield()
os.kill(swapper, signal.SIGKILL)
os.waitpid(swapper, 0)`,
    },
    { name: 'upwards', tries: `put('../' * 40 + f'{outside}/new')` },
    {
      name: 'upwards and down again',
      tries: `put(f'{workspace}/.//../outside/./{os.path.basename(outside)}/new')`,
    },
    { name: 'from a working directory outside', tries: `os.chdir(outside); put('new')` },
    { name: 'from an open directory', tries: `put('new', dir_fd=os.open(outside, os.O_RDONLY))` },
    { name: 'from a handle of a directory', tries: `put('new', dir_fd=os.open(outside, os.O_PATH))` },
    {
      name: 'from a root of our choice',
      tries: `
how = struct.pack('QQQ', os.O_WRONLY | os.O_CREAT, 0o666, 0x10)
call('openat2', os.open('/', os.O_PATH), f'{outside}/new', create_string_buffer(how), len(how))`,
    },
    {
      name: 'through magic links only',
      tries: `
how = struct.pack('QQQ', os.O_WRONLY | os.O_CREAT, 0o666, 0)
fd = os.open(outside, os.O_PATH)
call('openat2', AT_FDCWD, f'/proc/self/fd/{fd}/new', create_string_buffer(how), len(how))`,
    },
    { name: 'below a descriptor of ours', tries: `put(f'/proc/self/fd/{os.open(outside, os.O_PATH)}/new')` },
    {
      name: 'reopen for writing',
      tries: `put(f'/proc/self/fd/{os.open(kept, os.O_RDONLY)}', flags=os.O_WRONLY)`,
    },
    {
      name: 'reopen a handle for writing',
      tries: `put(f'/proc/self/fd/{os.open(kept, os.O_PATH)}', flags=os.O_WRONLY)`,
    },
    { name: 'reopen through dev', tries: `put(f'/dev/fd/{os.open(kept, os.O_RDONLY)}', flags=os.O_WRONLY)` },
    {
      name: 'reopen through a thread',
      tries: `put(f'/proc/thread-self/fd/{os.open(kept, os.O_RDONLY)}', flags=os.O_RDWR)`,
    },
    { name: 'change the mode of what is open', tries: `os.fchmod(os.open(kept, os.O_RDONLY), 0o600)` },
    {
      name: 'change the owner of what is open',
      tries: `os.fchown(os.open(kept, os.O_RDONLY), os.getuid(), os.getgid())`,
    },
    { name: 'change the times of what is open', tries: `os.utime(os.open(kept, os.O_RDONLY), (1, 1))` },
    {
      name: 'set an attribute of what is open',
      tries: `os.setxattr(os.open(kept, os.O_RDONLY), 'user.attack', b'x')`,
    },
    {
      name: 'change the owner of a handle',
      tries: `call('fchownat', os.open(kept, os.O_PATH), '', os.getuid(), os.getgid(), AT_EMPTY_PATH)`,
    },
    {
      name: 'change the mode of a handle',
      tries: `call('fchmodat2', os.open(kept, os.O_PATH), '', 0o600, AT_EMPTY_PATH)`,
      unconfined: 'varies',
    },
    {
      name: 'set a flag of the file system',
      tries: `fcntl.ioctl(os.open(kept, os.O_RDONLY), 0x40086602, struct.pack('l', 0x40 | 0x80000))`,
      unconfined: 'varies',
    },
    {
      name: 'set an access list',
      tries: `os.setxattr(kept, 'system.posix_acl_access', struct.pack('<IHHIHHIHHI', 2, 1, 7, 0xffffffff, 4, 7, 0xffffffff, 32, 7, 0xffffffff))`,
    },
    {
      name: 'a temporary file of everybody',
      tries: `put(f'/tmp/{os.path.basename(base)}-left')`,
      seen: ({ place }) => took(`/tmp/${basename(place.base)}-left`),
    },
    {
      name: 'a temporary file that stays',
      tries: `put(f'/var/tmp/{os.path.basename(base)}-left')`,
      seen: ({ place }) => took(`/var/tmp/${basename(place.base)}-left`),
    },
    {
      name: 'shared memory of everybody',
      tries: `put(f'/dev/shm/{os.path.basename(base)}-left')`,
      seen: ({ place }) => took(`/dev/shm/${basename(place.base)}-left`),
    },
    {
      name: 'beside the workspace',
      tries: `put(f'{base}/left')`,
      seen: ({ place }) => took(`${place.base}/left`),
    },
    {
      name: 'the workspace itself under another name',
      tries: `os.rename(workspace, f'{workspace}-moved')`,
      seen: ({ place }) => took(`${place.workspace}-moved`),
      // Everybody else is still in it.
      unconfined: 'notTried',
    },
    {
      name: 'a new profile of the user',
      tries: `put(os.path.expanduser('~/.profile'))`,
      seen: ({ place }) => took(`${place.base}/.profile`),
    },
    { name: 'the accounts of the machine', tries: `opens('/etc/passwd')`, unconfined: 'worksForRoot' },
    { name: 'the loader everybody uses', tries: `opens('/etc/ld.so.cache')`, unconfined: 'worksForRoot' },
    {
      name: 'a library loaded into everybody',
      tries: `opens('/etc', os.O_TMPFILE | os.O_WRONLY)`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'the program of the attacker itself',
      tries: `opens(sys.argv[0])`,
      unconfined: 'varies',
    },
  ],
};

const basename = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Whether something was left at a path. Takes it away. */
function took(path: string): boolean {
  if (!existsSync(path)) return false;
  rmSync(path, { recursive: true });
  return true;
}
