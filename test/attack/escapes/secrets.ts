import type { Escape, Theme } from './escape.js';

/** Wins with any text that holds the secret. */
const tells = (name: string, expression: string, unconfined: Escape['unconfined'] = 'works'): Escape => ({
  name,
  tries: `
text = ${expression}
if secret in (text.decode(errors='replace') if isinstance(text, bytes) else str(text)): won('the secret')`,
  unconfined,
});

/** Ways to read what is hidden: a denied directory, and what the server itself knows. */
export const secrets: Theme = {
  name: 'secrets',
  escapes: [
    tells('read', `open(secretFile).read()`),
    { name: 'list', tries: `won(os.listdir(os.path.dirname(secretFile)))` },
    { name: 'stat', tries: `won(os.stat(secretFile))` },
    {
      name: 'through a link',
      tries: `os.symlink(secretFile, f'{inside}/way'); open(f'{inside}/way').read(); won()`,
    },
    {
      name: 'through a hard link',
      tries: `os.link(secretFile, f'{inside}/way'); open(f'{inside}/way').read(); won()`,
    },
    {
      name: 'by moving',
      tries: `os.rename(os.path.dirname(secretFile), f'{inside}/secrets'); won()`,
      unconfined: 'notTried',
    },
    {
      name: 'by changing the mode',
      tries: `os.chmod(os.path.dirname(secretFile), 0o777); won(os.listdir(os.path.dirname(secretFile)))`,
    },
    tells('upwards', `open(f'{workspace}/../secrets/secret').read()`),
    tells(
      'from the directory',
      `open(os.open('secret', os.O_RDONLY, dir_fd=os.open(os.path.dirname(secretFile), os.O_PATH))).read()`,
    ),
    tells('through proc', `open(f'/proc/self/root{secretFile}').read()`),
    tells('through a stranger', `open(f'/proc/{hostPid}/root{secretFile}').read()`),
    tells('through the first process', `open(f'/proc/1/root{secretFile}').read()`, 'varies'),
    tells(
      'through all processes',
      `each([f'/proc/{pid}/root{secretFile}' for pid in others()], lambda path: open(path).read())`,
    ),
    tells('by another program', `run('cat', secretFile)`),
    tells('as a script', `subprocess.run(['sh', secretFile], capture_output=True, text=True).stderr`),
    tells(
      'as a library',
      `subprocess.run(['/bin/true'], env={'LD_PRELOAD': secretFile}, capture_output=True, text=True).stderr + open(secretFile).read()`,
    ),
    tells(
      'as a list of files',
      `subprocess.run(['tar', '-cf', '/dev/null', '-T', secretFile], capture_output=True, text=True).stderr`,
      'varies',
    ),
    tells('by searching', `run('grep', '-rs', 'secret-', base)`),
    tells(
      'by copying',
      `(run('cp', '-r', os.path.dirname(secretFile), f'{inside}/copy'), open(f'{inside}/copy/secret').read())[1]`,
    ),
    tells(
      'by watching',
      `
(lambda fd: (check(libc.inotify_add_watch(fd, os.path.dirname(secretFile).encode(), 0xfff)), secret)[1])(libc.inotify_init())
`.trim(),
    ),
    {
      name: 'by handle',
      tries: `
handle = create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128))
call('name_to_handle_at', AT_FDCWD, secretFile, handle, byref(c_int()), 0); won()`,
      unconfined: 'varies',
    },
    tells('the environment of this program', `dict(os.environ)`, 'varies'),
    tells('the environment of others', `contents(f'/proc/{pid}/environ' for pid in others())`, 'varies'),
    tells(
      'the environment of its parent',
      `open(f'/proc/{os.getppid()}/environ', 'rb').read() + open('/proc/self/environ', 'rb').read()`,
      'varies',
    ),
    tells('the arguments of others', `contents(f'/proc/{pid}/cmdline' for pid in others())`),
    {
      name: 'the memory of others',
      tries: `
def readable(pid):
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        for line in open(f'/proc/{pid}/maps'):
            span, mode = line.split()[:2]
            start, end = (int(each, 16) for each in span.split('-'))
            if not mode.startswith('rw') or end - start > 1 << 26: continue
            try: memory.seek(start); text = memory.read(end - start)
            except (OSError, OverflowError, ValueError): continue
            if secret.encode() in text and int(pid) != os.getppid(): won(pid)
    raise OSError(errno.ENOENT, 'no secret')
# Those who try for us know it.
each([pid for pid in others() if int(pid) != os.getppid()], readable)`,
      unconfined: 'varies',
    },
    tells('files of the server', `contents(glob.glob(f'{base}/.config/**', recursive=True))`, 'varies'),
    {
      name: 'descriptors of others',
      tries: `
def look(path):
    if secret in open(path, errors='replace').read(1000): won(path)
    raise OSError(errno.ENOENT, path)
each([f'/proc/{hostPid}/fd/{descriptor}'], look)`,
    },
  ],
};
