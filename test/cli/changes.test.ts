// Needs: bwrap
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { holdingPolicy } from '../host/changes/harness.js';

describe.each(['local', 'a server'])('execwire changes on %s', (where) => {
  test('run --hold, ls, diff, apply and discard', { timeout: 90_000 }, async () => {
    using folder = new TestFolder();
    const workspace = folder.file('workspace');
    mkdirSync(workspace);
    writeFileSync(`${workspace}/a`, 'one\n');
    const env = { ...process.env, XDG_STATE_HOME: folder.file('state') };
    await using server = where === 'local' ? null : await ServerProcess.start({ env });
    const target = server ? ['-e', server.url] : ['-e', 'local'];
    const run = (...args: string[]) => execwire(args, { env });
    const held = async (script: string, ...flags: string[]) =>
      await run('run', ...target, '--hold', ...flags, '--cwd', workspace, '--', 'sh', '-c', script);

    const first = await held('echo two >> a; echo new > b');
    expect(first).toMatchObject({ code: 0, stdout: '' });
    // What is told to type works as it is.
    const told = /1 created, 1 modified: execwire (changes diff .*)\n/.exec(first.stderr)?.[1] ?? '';
    const id = told.split(' ').at(-1) ?? '';
    expect((await run(...told.split(' '))).stdout).toContain('+two\n');
    expect(readFileSync(`${workspace}/a`, 'utf8')).toBe('one\n');

    expect((await held('cat a b; rm b', '--changes', id)).stdout).toBe('one\ntwo\nnew\n');
    expect((await run('changes', 'ls', ...target, id.slice(0, 4))).stdout).toBe(`M ${workspace}/a\n`);
    expect((await run('changes', 'ls', ...target)).stdout).toContain('1 modified');
    const diff = await run('changes', 'diff', ...target, id);
    expect(diff.stdout).toContain('@@ -1 +1,2 @@\n one\n+two\n');
    expect(JSON.parse((await run('changes', 'diff', ...target, '--json', id)).stdout)).toMatchObject([
      { path: `${workspace}/a`, kind: 'modified' },
    ]);

    expect(await run('changes', 'apply', ...target)).toMatchObject({
      code: 0,
      stdout: '1 modified\n',
      stderr: '',
    });
    expect(readFileSync(`${workspace}/a`, 'utf8')).toBe('one\ntwo\n');
    expect(await run('changes', 'diff', ...target, id)).toMatchObject({
      code: 1,
      stderr: `execwire: There are no held changes "${id}". List them: execwire changes ls\n`,
    });

    // A set that nobody has named goes if there is nothing in it.
    expect((await held('cat a')).stderr).toBe('execwire: nothing changed\n');
    expect((await held('true', '--changes', 'other')).stderr).toBe('execwire: nothing changed\n');
    expect((await held('echo three > a', '--changes', 'mine')).code).toBe(0);
    const discard = await run('changes', 'discard', ...target, 'mine', 'other');
    expect(discard.stdout).toBe('discarded mine\ndiscarded other\n');
    expect((await run('changes', 'ls', ...target, '--json')).stdout).toBe('[]\n');
    expect(readFileSync(`${workspace}/a`, 'utf8')).toBe('one\ntwo\n');
  });
});

test('sets are listed when the directory of one of them is gone', { timeout: 60_000 }, async () => {
  using folder = new TestFolder();
  const env = { ...process.env, XDG_STATE_HOME: folder.file('state') };
  {
    await using local = new LocalEnvironment({ changesDirectory: folder.file('state/execwire/changes') });
    for (const name of ['gone', 'there']) {
      mkdirSync(folder.file(name));
      const sandbox = { ...holdingPolicy([folder.file(name)], name), changesLease: 'kept' } as const;
      await local.run(['/usr/bin/touch', 'file'], { cwd: folder.file(name), sandbox });
    }
  }
  rmSync(folder.file('gone'), { recursive: true });
  const listed = await execwire(['changes', 'ls'], { env });
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toMatch(/^there .* 1 created .*$/m);
  expect(listed.stdout).toMatch(/^gone .* where changes are held, is gone/m);
  expect((await execwire(['changes', 'discard', 'gone'], { env })).stdout).toBe('discarded gone\n');
});
