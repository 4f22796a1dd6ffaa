import type { Theme } from './escape.js';

const REMOUNT_WRITABLE = '0x20 | 0x1000';

/** Ways to get another view of the disk: mounts, namespaces, roots, handles. A view in which the outside can be written wins. */
export const mounts: Theme = {
  name: 'another view',
  escapes: [
    {
      name: 'mount a file system',
      tries: `mount('none', outside, 'tmpfs'); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'bind',
      tries: `mount(outside, inside, None, 0x1000); put(f'{inside}/new')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'bind with everything below',
      tries: `mount('/', inside, None, 0x1000 | 0x4000); put(f'{inside}{outside}/new')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'remount the root writable',
      tries: `mount('none', '/', None, ${REMOUNT_WRITABLE}); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'remount proc writable',
      tries: `mount('none', '/proc', None, ${REMOUNT_WRITABLE}); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'mount another proc', tries: `mount('proc', inside, 'proc'); won()`, unconfined: 'worksForRoot' },
    {
      name: 'mount another sysfs',
      tries: `mount('sysfs', inside, 'sysfs'); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'mount another cgroup', tries: `mount('none', inside, 'cgroup2'); won()`, unconfined: 'varies' },
    { name: 'mount devices', tries: `mount('none', inside, 'devtmpfs'); won()`, unconfined: 'worksForRoot' },
    { name: 'mount terminals', tries: `mount('none', inside, 'devpts'); won()`, unconfined: 'worksForRoot' },
    {
      name: 'mount an overlay',
      tries: `
for name in 'uwm': os.mkdir(f'{inside}/{name}')
data = f'lowerdir={outside},upperdir={inside}/u,workdir={inside}/w'.encode()
mount('overlay', f'{inside}/m', 'overlay', 0, data); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'move a mount',
      tries: `mount('/proc', inside, None, 0x2000); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'make mounts shared',
      tries: `mount('none', '/', None, 0x100000 | 0x4000); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'unmount proc', tries: `call('umount2', '/proc', 2); won()`, unconfined: 'worksForRoot' },
    {
      name: 'unmount what hides',
      tries: `call('umount2', os.path.dirname(secretFile), 2); won()`,
      unconfined: 'varies',
    },
    { name: 'unmount the root', tries: `call('umount2', '/', 2); won()`, unconfined: 'notTried' },
    {
      name: 'open a tree',
      tries: `
fd = call('open_tree', AT_FDCWD, outside, 1)
call('move_mount', fd, '', AT_FDCWD, inside, 4)
put(f'{inside}/new')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'open a tree with attributes',
      tries: `call('open_tree_attr', AT_FDCWD, outside, 1, create_string_buffer(32), 32); won()`,
      unconfined: 'varies',
    },
    { name: 'a handle of a mount', tries: `call('open_tree', AT_FDCWD, '/', 0); won()` },
    { name: 'begin a file system', tries: `call('fsopen', 'tmpfs', 0); won()`, unconfined: 'worksForRoot' },
    {
      name: 'pick a file system',
      tries: `call('fspick', AT_FDCWD, '/proc', 0); won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'configure a file system', tries: `allowed('fsconfig', -1, 0, 0, 0, 0)` },
    {
      name: 'mount a file system by descriptor',
      tries: `allowed('fsmount', -1, 0, 0)`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'take away read-only',
      tries: `
attributes = create_string_buffer(struct.pack('QQQQ', 0, 1, 0, 0))
call('mount_setattr', AT_FDCWD, '/', 0x8000, attributes, 32); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'change the root of the file system',
      tries: `call('pivot_root', inside, inside); won()`,
      unconfined: 'varies',
    },
    {
      name: 'ask to change the root',
      tries: `allowed('pivot_root', '/nonexistent', '/nonexistent')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'break out of a root',
      tries: `
here = os.open('/', os.O_RDONLY)
os.mkdir(f'{inside}/cell')
os.chroot(f'{inside}/cell')
os.fchdir(here)
for _ in range(50): os.chdir('..')
os.chroot('.')
won()`,
      unconfined: 'worksForRoot',
    },
    { name: 'another root', tries: `os.chroot(inside); won()`, unconfined: 'worksForRoot' },
    { name: 'a user namespace', tries: `unshare(0x10000000); won()`, unconfined: 'varies' },
    { name: 'a mount namespace', tries: `unshare(0x00020000); won()`, unconfined: 'worksForRoot' },
    {
      name: 'a user namespace to remount in',
      tries: `unshare(0x10020000); mount('none', '/', None, ${REMOUNT_WRITABLE}); put(f'{outside}/new'); won()`,
      unconfined: 'varies',
    },
    ...[
      'cgroup 0x02000000',
      'uts 0x04000000',
      'ipc 0x08000000',
      'pid 0x20000000',
      'net 0x40000000',
      'time 0x00000080',
    ].map((each) => {
      const [name, flag] = each.split(' ');
      return {
        name: `a ${name} namespace`,
        tries: `unshare(${flag}); won()`,
        unconfined: 'worksForRoot',
      } as const;
    }),
    {
      name: 'a user namespace for a child',
      tries: `
pid = call('clone', 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0: os._exit(0)
won()`,
      unconfined: 'varies',
    },
    {
      name: 'a user namespace for a child of the new kind',
      tries: `
arguments = create_string_buffer(struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))
pid = call('clone3', arguments, 64)
if pid == 0: os._exit(0)
won()`,
      unconfined: 'varies',
    },
    {
      name: 'any child of the new kind',
      tries: `
arguments = create_string_buffer(struct.pack('QQQQQQQQ', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))
pid = call('clone3', arguments, 64)
if pid == 0: os._exit(0)
won()`,
    },
    {
      name: 'flags beyond the lower half',
      tries: `call('unshare', 0x10000000 | 1 << 32); won()`,
      unconfined: 'varies',
    },
    {
      name: 'a namespace by command',
      tries: `run('unshare', '--user', '--map-root-user', 'true'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'a sandbox in the sandbox',
      tries: `run('bwrap', '--dev-bind', '/', '/', 'true'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'mount by command',
      tries: `run('mount', '-t', 'tmpfs', 'none', inside); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'join the namespaces of the first process',
      tries: `
for name in ('mnt', 'pid', 'net', 'user'):
    try: call('setns', os.open(f'/proc/1/ns/{name}', os.O_RDONLY), 0)
    except OSError as error: failure = error
    else: won(name)
raise failure`,
      unconfined: 'varies',
    },
    {
      name: 'join the namespaces of a stranger',
      tries: `call('setns', os.open(f'/proc/{hostPid}/ns/mnt', os.O_RDONLY), 0); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'join by process descriptor',
      tries: `call('setns', call('pidfd_open', hostPid, 0), 0x00020000); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'join the namespace it is in',
      tries: `call('setns', os.open('/proc/self/ns/mnt', os.O_RDONLY), 0); won()`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'open by handle',
      tries: `
handle = create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))
mount_id = c_int()
call('name_to_handle_at', AT_FDCWD, kept, handle, byref(mount_id), 0)
fd = call('open_by_handle_at', os.open(workspace, os.O_RDONLY), handle, os.O_WRONLY)
os.write(fd, b'x')`,
      unconfined: 'worksForRoot',
    },
    {
      name: 'open the root by handle',
      // The root of an ext4 file system is inode 2 in every generation.
      tries: `
handle = create_string_buffer(struct.pack('IiII', 8, 1, 2, 0))
call('open_by_handle_at', os.open(workspace, os.O_RDONLY), handle, os.O_RDONLY); won()`,
      unconfined: 'varies',
    },
    { name: 'mount in user space', tries: `opens('/dev/fuse', os.O_RDWR)`, unconfined: 'varies' },
    {
      name: 'mount in user space by command',
      tries: `run('fusermount3', '-u', '/'); won()`,
      unconfined: 'notTried',
    },
    {
      name: 'enter by command',
      tries: `run('nsenter', '--target', '1', '--mount', 'true'); won()`,
      unconfined: 'varies',
    },
    {
      name: 'watch the disk with marks',
      tries: `call('fanotify_init', 0x4, os.O_RDWR); won()`,
      unconfined: 'worksForRoot',
    },
  ],
};
