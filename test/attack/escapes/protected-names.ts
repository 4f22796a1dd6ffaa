import type { Theme } from './escape.js';

/** Ways to change what the user's own tools trust: hooks, configuration, rules. Success shows in those names. */
export const protectedNames: Theme = {
  name: 'protected names',
  ownRoots: true,
  escapes: [
    { name: 'write the configuration', tries: `put(f'{root}/.git/config', '[core]')` },
    {
      name: 'append to the configuration',
      tries: `put(f'{root}/.git/config', flags=os.O_WRONLY | os.O_APPEND)`,
    },
    { name: 'truncate the configuration', tries: `os.open(f'{root}/.git/config', os.O_RDONLY | os.O_TRUNC)` },
    {
      name: 'replace the configuration',
      tries: `put(f'{root}/new'); os.rename(f'{root}/new', f'{root}/.git/config')`,
    },
    { name: 'remove the configuration', tries: `os.unlink(f'{root}/.git/config')` },
    { name: 'add a hook', tries: `put(f'{root}/.git/hooks/post-commit')` },
    { name: 'link a hook', tries: `os.symlink(f'{outside}/hook', f'{root}/.git/hooks/post-checkout')` },
    { name: 'change a hook', tries: `put(f'{root}/.git/hooks/pre-commit')` },
    { name: 'let a hook run', tries: `os.chmod(f'{root}/.git/hooks/pre-commit', 0o755)` },
    {
      name: 'a hook by another name',
      tries: `os.link(f'{root}/.git/hooks/pre-commit', f'{root}/mine'); put(f'{root}/mine')`,
    },
    {
      name: 'a hook by a descriptor',
      tries: `put(f'/proc/self/fd/{os.open(f"{root}/.git/hooks/pre-commit", os.O_RDONLY)}', flags=os.O_WRONLY)`,
    },
    {
      name: 'a hook from a directory',
      tries: `put('post-merge', dir_fd=os.open(f'{root}/.git/hooks', os.O_PATH))`,
    },
    {
      name: 'a hook without a name',
      tries: `os.open(f'{root}/.git/hooks', os.O_TMPFILE | os.O_WRONLY); won()`,
    },
    { name: 'move the repository away', tries: `os.rename(f'{root}/.git', f'{root}/old')` },
    {
      name: 'exchange the repository',
      tries: `
os.mkdir(f'{root}/mine')
call('renameat2', AT_FDCWD, f'{root}/.git', AT_FDCWD, f'{root}/mine', 2)`,
    },
    {
      name: 'move another head there',
      tries: `put(f'{root}/mine'); os.rename(f'{root}/mine', f'{root}/.git/HEAD')`,
    },
    {
      name: 'link over the repository',
      tries: `shutil.rmtree(f'{root}/.git'); os.symlink(outside, f'{root}/.git')`,
    },
    { name: 'move the root away', tries: `os.rename(root, f'{root}-moved'); os.mkdir(root)` },
    { name: 'remove the root', tries: `shutil.rmtree(root, ignore_errors=True); os.stat(f'{root}/.git')` },
    { name: 'the mode of the repository', tries: `os.chmod(f'{root}/.git', 0o700)` },
    { name: 'an attribute of the repository', tries: `os.setxattr(f'{root}/.git', 'user.attack', b'x')` },
    { name: 'objects', tries: `os.mkdir(f'{root}/.git/objects/00')` },
    { name: 'references', tries: `os.mkdir(f'{root}/.git/refs/heads')` },
    { name: 'modules', tries: `os.mkdir(f'{root}/.git/modules/sub')` },
    { name: 'attributes', tries: `put(f'{root}/.git/info/attributes')` },
    {
      name: 'git sets a path for hooks',
      tries: `run('git', '-C', root, 'config', 'core.hooksPath', '/tmp')`,
    },
    {
      name: 'git sets a command',
      tries: `run('git', '-C', root, '-c', 'safe.directory=*', 'config', 'core.fsmonitor', 'true')`,
    },
    {
      name: 'git makes a commit',
      tries: `
run('git', '-C', root, '-c', 'safe.directory=*', '-c', 'user.name=x', '-c', 'user.email=x', 'commit', '--allow-empty', '-m', 'x')`,
    },
    {
      name: 'git adds a working tree',
      tries: `
run('git', '-C', root, '-c', 'safe.directory=*', 'worktree', 'add', '--orphan', f'{root}/tree')`,
      unconfined: 'varies',
    },
    {
      name: 'git moves the repository',
      tries: `run('git', '-C', root, '-c', 'safe.directory=*', 'init', f'--separate-git-dir={root}/elsewhere')`,
    },
    {
      name: 'git packs',
      tries: `run('git', '-C', root, '-c', 'safe.directory=*', 'pack-refs', '--all'); run('git', '-C', root, '-c', 'safe.directory=*', 'update-server-info')`,
    },
    { name: 'rules', tries: `put(f'{root}/.agents/rules')` },
    { name: 'new rules', tries: `put(f'{root}/.agents/new')` },
    { name: 'rules moved away', tries: `os.rename(f'{root}/.agents', f'{root}/agents')` },
    {
      name: 'rules by another name',
      tries: `os.link(f'{root}/.agents/rules', f'{root}/rules'); put(f'{root}/rules')`,
    },
    { name: 'a missing name', tries: `os.mkdir(f'{root}/.codex'); won()` },
    {
      name: 'a missing name as a file',
      tries: `put(f'{root}/.codex', flags=os.O_WRONLY | os.O_CREAT | os.O_EXCL)`,
    },
    { name: 'a missing name as a link', tries: `os.symlink(outside, f'{root}/.codex')` },
    {
      name: 'a missing name as a hard link',
      tries: `put(f'{root}/mine'); os.link(f'{root}/mine', f'{root}/.codex')`,
    },
    {
      name: 'a missing name by renaming',
      tries: `os.mkdir(f'{root}/mine'); put(f'{root}/mine/config'); os.rename(f'{root}/mine', f'{root}/.codex')`,
    },
    {
      name: 'a missing name by exchanging',
      tries: `
os.mkdir(f'{root}/mine')
put(f'{root}/mine/config')
call('renameat2', AT_FDCWD, f'{root}/mine', AT_FDCWD, f'{root}/.codex', 2)`,
      unconfined: 'varies',
    },
    {
      name: 'a missing name filled',
      tries: `
os.makedirs(f'{root}/.codex', exist_ok=True)
put(f'{root}/.codex/config')`,
    },
    {
      name: 'a missing name removed and made again',
      tries: `
try: os.rmdir(f'{root}/.codex')
except FileNotFoundError: pass
os.mkdir(f'{root}/.codex')
put(f'{root}/.codex/config')`,
    },
    {
      name: 'a missing name by its mode',
      tries: `
os.makedirs(f'{root}/.codex', exist_ok=True)
os.chmod(f'{root}/.codex', 0o777)
put(f'{root}/.codex/config')`,
    },
    {
      name: 'a missing name in a root that is swapped',
      tries: `
def swap():
    for _ in range(300):
        try:
            os.rename(root, f'{root}-moved')
            os.rename(f'{root}-moved', root)
        except OSError: pass
thread = threading.Thread(target=swap)
thread.start()
while thread.is_alive():
    try: put(f'{root}-moved/.git/hooks/post-rewrite')
    except OSError: pass
put(f'{root}/.git/hooks/post-rewrite')`,
    },
  ],
};
