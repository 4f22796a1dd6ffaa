import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SHARED_MEMORY_BYTES } from '../../../src/host/sandbox/bwrap/bwrap-argv.js';
import { policyFromPermissions, type SandboxPolicy } from '../../../src/policy/internal.js';
import type { PermissionEntry } from '../../../src/protocol/index.js';
import { entry, type Identity, identities, Place, rootReadable, run, workspacePolicy } from './harness.js';

/** A file everyone may read and write, with its directories, owned by the identity. */
function put(identity: Identity, path: string, text = 'text\n'): void {
  const missing: string[] = [];
  for (let at = dirname(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    mkdirSync(directory);
    if (identity.uid !== undefined) chownSync(directory, identity.uid, identity.uid);
  }
  writeFileSync(path, text);
  chmodSync(path, 0o666);
}

function policyOf(entries: PermissionEntry[], cwd: string): SandboxPolicy {
  return policyFromPermissions(
    { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
    { cwd, workspaceRoots: [cwd], temporaryDirectories: [] },
  );
}

const minimal: PermissionEntry = { path: { type: 'special', value: { kind: 'minimal' } }, access: 'read' };

describe.each(identities)('what a confined process sees as $name', (identity) => {
  const outputOf = async (policy: SandboxPolicy, place: Place, script: string) => {
    const { stdout } = await run(identity, policy, { argv: ['sh', '-c', script], cwd: place.workspace });
    return stdout;
  };

  test('read-only is read-only everywhere, the workspace and the temporary directory too', async () => {
    using place = new Place(identity);
    const script = `for d in . /tmp /var/tmp /dev /proc ${place.outside}; do (: > $d/new) 2>&- && echo wrote $d; done; echo done`;
    expect(await outputOf(policyOf([rootReadable], place.workspace), place, script)).toBe('done\n');
  });

  test('what is hidden cannot be read, listed or opened through another name', async () => {
    using place = new Place(identity);
    put(identity, join(place.outside, 'secrets', 'key'));
    put(identity, join(place.outside, 'file'));
    const policy = workspacePolicy(place.workspace, {
      entries: [entry(join(place.outside, 'secrets'), 'none'), entry(join(place.outside, 'file'), 'none')],
    });
    const script = [
      'cat ../outside/file ../outside/secrets/key; ls ../outside/secrets',
      `cat /proc/self/root${place.outside}/file`,
      'ln ../outside/file mine; cat mine',
      'ls ../outside',
    ].join('; ');
    expect(await outputOf(policy, place, script)).toBe('file\nsecrets\n');
  });

  test('a readable place inside a hidden one stays readable', async () => {
    using place = new Place(identity);
    put(identity, join(place.outside, 'a', 'b'), 'visible\n');
    put(identity, join(place.outside, 'c'));
    const policy = workspacePolicy(place.workspace, {
      entries: [entry(place.outside, 'none'), entry(join(place.outside, 'a'), 'read')],
    });
    expect(await outputOf(policy, place, 'cat ../outside/a/b ../outside/c; : > ../outside/new')).toBe(
      'visible\n',
    );
  });

  test('patterns hide what they match', async () => {
    using place = new Place(identity);
    for (const name of ['a.env', 'deep/er/b.env', 'deep/er/c.txt'])
      put(identity, join(place.workspace, name), `${name}\n`);
    const pattern: PermissionEntry = { path: { type: 'glob_pattern', pattern: '**/*.env' }, access: 'deny' };
    const policy = workspacePolicy(place.workspace, { entries: [pattern] });
    expect(await outputOf(policy, place, 'cat a.env deep/er/b.env deep/er/c.txt')).toBe('deep/er/c.txt\n');
  });

  test('patterns hide names of every kind, and leave circles of links alone', async () => {
    using place = new Place(identity);
    const { workspace } = place;
    for (const name of ['secret/two\nlines', 'deep/er/key.pem', 'open']) put(identity, join(workspace, name));
    symlinkSync('round.pem', join(workspace, 'round.pem'));
    const hiding = (pattern: string): PermissionEntry => ({
      path: { type: 'glob_pattern', pattern },
      access: 'deny',
    });
    const patterns = [`${workspace}/secret/**`, `${workspace}/./open/../**/**/*.pem`];
    const policy = policyOf([rootReadable, ...patterns.map(hiding)], workspace);
    expect(await outputOf(policy, place, 'cat secret/* deep/er/*; cat open')).toBe('text\n');
  });

  test('a name that patterns find and no text can name is refused, with advice', async () => {
    using place = new Place(identity);
    const directory = Buffer.concat([Buffer.from(`${place.workspace}/caf`), Buffer.of(0xe9)]);
    mkdirSync(directory);
    writeFileSync(Buffer.concat([directory, Buffer.from('/key.pem')]), 'text\n');
    const hiding = (pattern: string): SandboxPolicy =>
      policyOf([rootReadable, { path: { type: 'glob_pattern', pattern }, access: 'deny' }], place.workspace);
    await expect(outputOf(hiding('**/*.pem'), place, 'cat */key.pem')).rejects.toMatchObject({
      code: 'sandboxUnavailable',
      data: { reason: 'notUtf8', hint: 'Rename it.' },
    });
    expect(await outputOf(hiding('**/*.key'), place, 'cat */key.pem')).toBe('text\n');
  });

  test('without a readable root there is only what was named', async () => {
    using place = new Place(identity);
    put(identity, join(place.outside, 'file'));
    const policy = policyOf([minimal, entry(place.workspace, 'write')], place.workspace);
    const script =
      'ls /root /home /var ../outside 2>&-; : > inside && ls; (: > /new) 2>&- || echo sealed; ls -d /bin';
    expect(await outputOf(policy, place, script)).toBe('inside\nsealed\n/bin\n');
  });

  test('a writable place inside a protected one is writable', async () => {
    using place = new Place(identity);
    put(identity, join(place.workspace, '.git', 'logs', 'head'));
    const policy = workspacePolicy(place.workspace, {
      entries: [entry(join(place.workspace, '.git', 'logs'), 'write')],
    });
    const script = 'echo x > .git/logs/head && echo logs; echo x > .git/config && echo config';
    expect(await outputOf(policy, place, script)).toBe('logs\n');
  });

  test('the parents of a protected path cannot be swapped', async () => {
    using place = new Place(identity);
    const kept = join(place.workspace, 'a', 'b', 'kept');
    put(identity, kept);
    const policy = workspacePolicy(place.workspace, {
      entries: [entry(kept, 'read'), entry(join(place.workspace, 'x', 'y', 'missing'), 'read')],
    });
    const script = [
      'mv a a2 && echo moved a; mv a/b a/b2 && echo moved b; rm -rf a; echo x > a/b/kept && echo wrote',
      'mkdir -p x/y && echo made; ln -s . x && echo linked; : > a/new && echo new; ls a a/b',
    ].join('; ');
    expect(await outputOf(policy, place, script)).toBe('new\na:\nb\nnew\n\na/b:\nkept\n');
    expect(readdirSync(place.workspace)).toEqual(['a']);
  });

  test('a workspace below a writable temporary directory keeps its protection', async () => {
    using place = new Place(identity);
    const policy = policyOf(
      [rootReadable, entry(place.base, 'write'), entry(place.workspace, 'write')],
      place.workspace,
    );
    const script = [
      `cd /; mv ${place.workspace} ${place.base}/w2 && echo moved`,
      `mkdir ${place.workspace}/.git && echo made; : > ${place.outside}/new && echo outside`,
    ].join('; ');
    expect(await outputOf(policy, place, script)).toBe('outside\n');
  });

  test('what a .git that is a file stands for is protected, and not shown where it was hidden', async () => {
    using place = new Place(identity);
    const { workspace, outside } = place;
    const clone = join(workspace, 'clone');
    const tree = join(workspace, 'tree');
    put(identity, join(clone, '.bare', 'config'));
    put(identity, join(clone, '.bare', 'worktrees', 'tree', 'commondir'), '../..\n');
    put(identity, join(clone, '.git'), 'gitdir: ./.bare\n');
    put(identity, join(tree, '.git'), `gitdir: ${clone}/.bare/worktrees/tree\n`);
    const script = `echo x > ${clone}/.bare/config; mv ${clone}/.bare ${clone}/new; touch new; ls ${clone}`;
    const visible = [rootReadable, entry(clone, 'write'), entry(tree, 'write')];
    expect(await outputOf(policyOf(visible, clone), place, `cd ${clone}; ${script}`)).toBe('new\n');
    expect(readdirSync(join(clone, '.bare'))).toEqual(['config', 'worktrees']);
    const around = [rootReadable, entry(workspace, 'write'), entry(tree, 'write')];
    await outputOf(policyOf(around, tree), place, script);
    expect(readFileSync(join(clone, '.bare', 'config'), 'utf8')).toBe('text\n');

    put(identity, join(outside, 'secret'));
    put(identity, join(tree, '.git'), `gitdir: ${outside}\n`);
    const hiding = [...visible, entry(outside, 'none')];
    expect(await outputOf(policyOf(hiding, tree), place, `cat ${outside}/secret`)).toBe('');
  });

  test('a protected name that is a link is refused, with advice', async () => {
    using place = new Place(identity);
    symlinkSync(place.outside, join(place.workspace, '.git'));
    await expect(outputOf(workspacePolicy(place.workspace), place, ':')).rejects.toMatchObject({
      code: 'sandboxUnavailable',
      data: { reason: 'protectedLink', hint: expect.stringContaining('.git') },
    });
  });

  test('a link left in a temporary directory under a protected name keeps nothing from starting', async () => {
    using place = new Place(identity);
    const { workspace, outside } = place;
    const tmpdir: PermissionEntry = { path: { type: 'special', value: { kind: 'tmpdir' } }, access: 'write' };
    const policy = policyFromPermissions(
      {
        type: 'managed',
        file_system: { type: 'restricted', entries: [rootReadable, tmpdir] },
        network: 'restricted',
      },
      { cwd: workspace, workspaceRoots: [workspace], temporaryDirectories: [outside] },
    );
    await outputOf(policy, place, `ln -s ${workspace} ${outside}/.git`);
    const script = `touch ${outside}/.git/new || echo refused; touch ${outside}/new && echo made`;
    expect(await outputOf(policy, place, script)).toBe('refused\nmade\n');
  });

  test('a root given through a link is the place it points to', async () => {
    using place = new Place(identity);
    const link = join(place.base, 'link');
    symlinkSync(place.workspace, link);
    const script = `: > ${link}/new && ls ${place.workspace}; mkdir ${link}/.git || echo protected`;
    const policy = policyOf([rootReadable, entry(link, 'write')], place.workspace);
    expect(await outputOf(policy, place, script)).toBe('new\nprotected\n');
  });

  test('what is behind a NUL in anything given is no option of the sandbox', async () => {
    using place = new Place(identity);
    const policy = workspacePolicy(place.workspace);
    const spec = { argv: ['true'], cwd: place.workspace };
    const injected = 'x\0--dev-bind\0/\0/';
    for (const env of [{ A: injected }, { [injected]: 'a' }])
      await expect(run(identity, policy, { ...spec, env })).rejects.toMatchObject({ code: 'invalidParams' });
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  test('a writable root that does not exist grants nothing, and nothing is made for it', async () => {
    using place = new Place(identity);
    const later = join(place.outside, 'later');
    const policy = policyOf([rootReadable, entry(later, 'write')], place.workspace);
    expect(await outputOf(policy, place, `ls -a ${place.outside}; mkdir ${later} || echo no`)).toBe(
      '.\n..\nno\n',
    );
  });

  test('a single file can be writable, and stays a file', async () => {
    using place = new Place(identity);
    const [alone, inside] = [join(place.outside, 'file'), join(place.workspace, 'file')];
    for (const file of [alone, inside]) put(identity, file);
    const policy = policyOf(
      [rootReadable, entry(place.workspace, 'write'), entry(alone, 'write'), entry(inside, 'write')],
      place.workspace,
    );
    const script = `for file in ${alone} ${inside}; do echo new > $file; rm $file || cat $file; done`;
    expect(await outputOf(policy, place, script)).toBe('new\nnew\n');
  });

  test('shared memory is private and bounded', async () => {
    using place = new Place(identity);
    const name = `/dev/shm/execwire-${process.pid}`;
    const script = `echo x > ${name}; cat ${name}; echo $(($(stat -f -c '%b * %S' /dev/shm)))`;
    expect(await outputOf(workspacePolicy(place.workspace), place, script)).toBe(
      `x\n${SHARED_MEMORY_BYTES}\n`,
    );
    expect(existsSync(name)).toBe(false);
  });

  test('a writable root does not reach the kernel’s own files', async () => {
    using place = new Place(identity);
    const script = "grep -o ' /sys r[ow]' /proc/self/mountinfo; grep -o ' /proc r[ow]' /proc/self/mountinfo";
    const shown = await outputOf(policyOf([entry('/', 'write')], place.workspace), place, script);
    // The last mount covers those before it.
    const [sys, proc] = ['/sys', '/proc'].map((path) =>
      shown.split('\n').findLast((line) => line.includes(path)),
    );
    expect({ sys, proc }).toEqual({ sys: ' /sys ro', proc: ' /proc ro' });
  });

  test('full access to files without network still has no network', async () => {
    using place = new Place(identity);
    const policy = policyFromPermissions(
      { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
      { cwd: place.workspace, workspaceRoots: [], temporaryDirectories: [] },
    );
    // Opened and nothing more: even if that worked, nothing would change.
    const reach = '(exec 3>>/proc/sys/kernel/core_pattern) 2>&- && echo reached';
    const script = `: > ${place.outside}/new && echo wrote; ${reach}; ls /sys/class/net; echo $CODEX_SANDBOX_NETWORK_DISABLED`;
    expect(pathToFileURL(place.outside).href).toContain('file:');
    const shown = await outputOf(policy, place, `${script}; grep -c : /proc/net/dev`);
    expect(shown.startsWith('wrote\n')).toBe(true);
    expect(shown).not.toContain('reached');
    expect(shown.endsWith('1\n1\n')).toBe(true);
  });
});
