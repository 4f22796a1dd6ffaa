import type { Theme } from './escape.js';

/**
 * Ways to what is held, past the overlay that shows it. `sets` is where the server keeps it; its path is no secret, as it is in
 * the table of mounts. The file `marked` was written by the attacker itself, so that there is something to find.
 */
export const upperDirectory: Theme = {
  name: 'upper directory',
  escapes: [
    {
      name: 'list the sets',
      tries: 'won(os.listdir(sets)[0])',
      unconfined: 'varies',
    },
    {
      name: 'open layers as the mount table names them',
      tries: `
for line in open('/proc/self/mountinfo'):
    fields = line.split()
    options = fields[-1].split(',') + [fields[3], fields[4]]
    for option in options:
        path = option.split('=')[-1]
        for base in (sets, '/'):
            full = os.path.join(base, path.lstrip('/')) if not path.startswith(sets) else path
            if sets in full:
                for name in ('', 'upper', '../upper', 'work', '../work'):
                    try: won((full, os.listdir(os.path.join(full, name))[0]))
                    except (OSError, IndexError): pass`,
      unconfined: 'varies',
    },
    {
      name: 'walk to the layers from above',
      tries: `
head = os.open(os.path.dirname(sets), os.O_RDONLY)
won(os.listdir(os.open(os.path.basename(sets), os.O_RDONLY | os.O_DIRECTORY, dir_fd=head))[0])`,
      unconfined: 'varies',
    },
    {
      name: 'write where sets are recorded',
      tries: `
with open(os.path.join(sets, 'forged'), 'w') as file: file.write('x')
won('written')`,
      unconfined: 'varies',
    },
    {
      name: 'link a held file out of the sets',
      tries: `
for folder in os.listdir(sets):
    os.link(os.path.join(sets, folder, 'set.json'), os.path.join(workspace, 'record'))
    won('linked')`,
      unconfined: 'varies',
    },
    {
      name: 'open by handle',
      tries: `
handle = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))
mount = ctypes.c_int()
if libc.name_to_handle_at(-100, os.fsencode(workspace), handle, ctypes.byref(mount), 0): raise OSError(ctypes.get_errno())
fd = os.open('/', os.O_RDONLY)
got = libc.open_by_handle_at(fd, handle, os.O_RDONLY)
if got < 0: raise OSError(ctypes.get_errno())
won(os.readlink(f'/proc/self/fd/{got}'))`,
      unconfined: 'varies',
    },
    {
      name: 'mount the layers once more',
      tries: `
for flags in (0x10000000, 0x10020000):
    if os.fork() == 0:
        try:
            if libc.unshare(flags): os._exit(1)
            options = f'userxattr,lowerdir=/,upperdir={sets},workdir={sets}'.encode()
            os._exit(0 if libc.mount(b'overlay', os.fsencode(workspace), b'overlay', 0, options) == 0 else 1)
        except BaseException: os._exit(1)
    if os.wait()[1] == 0: won('mounted')
raise OSError('not mounted')`,
      unconfined: 'varies',
    },
    {
      name: 'take the mount away from above the layers',
      tries: `
before = set(os.listdir(workspaceBase))
for flags in (0, 2, 8):
    if libc.umount2(os.fsencode(workspaceBase), flags) == 0: won('unmounted')
raise OSError(ctypes.get_errno())`,
      unconfined: 'notTried',
    },
    {
      name: 'mark held files for the overlay',
      tries: `
path = os.path.join(workspace, 'marked')
os.mkdir(path)
for prefix in ('trusted.overlay.', 'security.overlay.'):
    for mark in ('opaque', 'redirect', 'metacopy', 'origin', 'upper'):
        try:
            os.setxattr(path, prefix + mark, b'/' + outside.encode())
            won(prefix + mark)
        except OSError: pass
os.mknod(os.path.join(path, 'whiteout'), 0o20600, 0)
won('a whiteout')`,
      unconfined: 'notTried',
    },
  ],
};
