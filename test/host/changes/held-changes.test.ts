// Needs: bwrap, python3
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LocalEnvironment } from '../../../src/environment/index.js';
import { holdingPolicy, Scene } from './harness.js';

test('a program sees its changes, the files stay as they are, and apply makes them so', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('kept'), 'kept\n');
  writeFileSync(scene.file('changed'), 'before\n');
  writeFileSync(scene.file('removed'), 'gone\n');
  expect(await scene.run('echo after > changed; rm removed; echo new > made; cat changed made')).toBe(
    'after\nnew\n',
  );
  expect(readdirSync(scene.workspace).toSorted()).toEqual(['changed', 'kept', 'removed']);
  expect(readFileSync(scene.file('changed'), 'utf8')).toBe('before\n');

  const set = scene.environment.changes('task');
  expect((await set.list()).changes).toMatchObject([
    { path: scene.file('changed'), kind: 'modified', type: 'file', size: 6, baseSize: 7, conflict: false },
    { path: scene.file('made'), kind: 'created', size: 4, baseSize: null },
    { path: scene.file('removed'), kind: 'deleted', size: null, baseSize: 5 },
  ]);
  const { diffs } = await set.diff();
  expect(diffs[0]?.text).toContain('-before\n+after\n');

  expect(await set.apply()).toEqual({ applied: { created: 1, modified: 1, deleted: 1 }, conflicts: [] });
  expect(readFileSync(scene.file('changed'), 'utf8')).toBe('after\n');
  expect(existsSync(scene.file('removed'))).toBe(false);
  expect(readdirSync(scene.workspace).toSorted()).toEqual(['changed', 'kept', 'made']);
  expect((await set.list()).changes).toEqual([]);
  expect(await set.apply()).toEqual({ applied: { created: 0, modified: 0, deleted: 0 }, conflicts: [] });

  await set.discard();
  expect(readdirSync(scene.sets)).toEqual([]);
});

test('commands of one set build on each other, one after the other and at once', async () => {
  await using scene = new Scene();
  await scene.run(
    `mkdir built && printf '#!/bin/sh\\necho ran in $PWD\\n' > built/tool && chmod +x built/tool`,
  );
  const inside = await scene.environment.run([scene.file('built', 'tool')], {
    cwd: scene.file('built'),
    sandbox: scene.policy(),
  });
  expect(inside.stdout).toBe(`ran in ${scene.file('built')}\n`);
  await Promise.all([1, 2, 3, 4].map((n) => scene.run(`for i in $(seq 50); do echo $i >> f${n}; done`)));
  expect(await scene.run('cat f1 f2 f3 f4 | wc -l')).toBe('200\n');
  await scene.environment.files.writeFile(scene.file('written'), 'by us', { sandbox: scene.policy() });
  expect(await scene.run('cat written')).toBe('by us');
  expect(await scene.environment.files.readDirectory(scene.workspace)).toEqual([]);
  const { counts } = await scene.environment.changes('task').list();
  expect(counts).toEqual({ created: 7, modified: 0, deleted: 0 });
});

test('a path whose base changed meanwhile is a conflict', async () => {
  await using scene = new Scene();
  mkdirSync(scene.file('d'));
  for (const name of ['a', 'b', 'c', 'd/x']) writeFileSync(scene.file(name), `${name}\n`);
  await scene.run('echo 2 >> a; sed -i s/b/B/ b; rm c; rm -r d; echo n > n');
  const set = scene.environment.changes('task');
  await set.list();
  writeFileSync(scene.file('a'), 'mine\n');
  writeFileSync(scene.file('d/x'), 'mine\n');
  writeFileSync(scene.file('n'), 'mine\n');
  const refused = await set.apply();
  expect(refused.applied).toEqual({ created: 0, modified: 0, deleted: 0 });
  const conflicts = ['a', 'd', 'd/x', 'n'].map((name) => scene.file(name));
  expect(refused.conflicts.map(({ path }) => path)).toEqual(conflicts);
  expect(readFileSync(scene.file('b'), 'utf8')).toBe('b\n');
  const skipped = await set.apply({ onConflict: 'skip' });
  expect(skipped.applied).toEqual({ created: 0, modified: 1, deleted: 1 });
  expect(readFileSync(scene.file('a'), 'utf8')).toBe('mine\n');
  expect((await set.apply({ onConflict: 'overwrite' })).conflicts).toEqual([]);
  expect(readFileSync(scene.file('a'), 'utf8')).toBe('a\n2\n');
  expect(readdirSync(scene.workspace).toSorted()).toEqual(['a', 'b', 'n']);
});

test('what is in a deleted directory is listed, shown, applied by itself, and stays a conflict if it is one', async () => {
  await using scene = new Scene();
  mkdirSync(scene.file('d', 'e'), { recursive: true });
  for (const name of ['d/x', 'd/e/y', 'd/e/z']) writeFileSync(scene.file(name), `${name}\n`);
  await scene.run('rm -r d; echo n > n');
  const set = scene.environment.changes('task');
  const deleted = ['d', 'd/e', 'd/e/y', 'd/e/z', 'd/x'].map((name) => scene.file(name));
  const paths = async () => (await set.list()).changes.map(({ path }) => path);
  expect(await paths()).toEqual([...deleted, scene.file('n')]);
  const { diffs } = await set.diff({ paths: [scene.file('d')] });
  expect(diffs.map(({ text }) => text).join('')).toContain('-d/e/y\n');
  const one = await set.apply({ paths: [scene.file('d/e/z')] });
  expect(one).toEqual({ applied: { created: 0, modified: 0, deleted: 1 }, conflicts: [] });
  expect(readdirSync(scene.file('d/e'))).toEqual(['y']);
  writeFileSync(scene.file('d/e/made'), 'by somebody else\n');
  const expected = ['d', 'd/e', 'd/e/made'].map((name) => scene.file(name));
  for (const onConflict of ['refuse', 'skip', 'skip', 'refuse'] as const) {
    const { conflicts } = await set.apply({ onConflict });
    expect(conflicts.map(({ path }) => path)).toEqual(expected);
    expect(readdirSync(scene.file('d/e'))).toContain('made');
  }
  expect(await paths()).toEqual(expected);
  await set.apply({ onConflict: 'overwrite' });
  expect(readdirSync(scene.workspace)).toEqual(['n']);
});

test('what is held in a directory stays seen, and is listed once, when one around it is held as well', async () => {
  await using scene = new Scene();
  mkdirSync(scene.file('sub'));
  writeFileSync(scene.file('sub/file'), '1\n');
  const inner = holdingPolicy([scene.file('sub')], 'task');
  await scene.run('echo 2 >> sub/file; echo new > sub/made', inner);
  expect(await scene.run('echo 3 >> sub/file; echo outer > outer; ls sub; cat sub/file')).toBe(
    'file\nmade\n1\n2\n3\n',
  );
  expect(await scene.run('cat sub/file outer', inner)).toBe('1\n2\n3\nouter\n');
  const set = scene.environment.changes('task');
  const { changes } = await set.list();
  const expected = ['outer', 'sub/file', 'sub/made'].map((name) => scene.file(name));
  expect(changes.map(({ path }) => path).toSorted()).toEqual(expected);
  await set.apply();
  expect(readFileSync(scene.file('sub/file'), 'utf8')).toBe('1\n2\n3\n');
});

test('a set stays usable when a directory is gone where nothing is held; otherwise it says which', async () => {
  await using scene = new Scene();
  const [idle, used] = [join(scene.folder, 'idle'), join(scene.folder, 'used')];
  for (const path of [idle, used]) mkdirSync(path);
  const policy = holdingPolicy([scene.workspace, idle, used], 'task');
  await scene.run('echo new > made', policy);
  rmSync(idle, { recursive: true });
  const set = scene.environment.changes('task');
  expect((await set.list()).changes.map(({ path }) => path)).toEqual([scene.file('made')]);
  expect((await set.apply()).applied.created).toBe(1);
  await scene.run(`touch ${used}/file`, holdingPolicy([scene.workspace, used], 'task'));
  rmSync(used, { recursive: true });
  await expect(set.list()).rejects.toThrow(`${used}, where changes are held, is gone`);
  mkdirSync(used);
  expect((await set.apply()).applied.created).toBe(1);
  expect(readdirSync(used)).toEqual(['file']);
});

test('somebody who changes a file right after the program did is noticed', async () => {
  await using scene = new Scene();
  const names = Array.from({ length: 20 }, (_, index) => `f${String(index).padStart(2, '0')}`);
  for (const name of names) writeFileSync(scene.file(name), 'before\n');
  const child = await scene.environment.start({
    argv: ['/bin/bash', '-c', 'while read -r name; do echo held > $name; echo $name; done'],
    cwd: scene.workspace,
    sandbox: scene.policy(),
    pipeStdin: true,
  });
  const told = child.lines();
  for (const name of names) {
    await child.write(`${name}\n`);
    expect((await told.next()).value).toBe(name);
    // Within the same tick of the clock that file times are taken from.
    writeFileSync(scene.file(name), 'mine\n');
  }
  await child.closeStdin();
  await child.wait();
  const { applied, conflicts } = await scene.environment.changes('task').apply();
  expect(applied).toEqual({ created: 0, modified: 0, deleted: 0 });
  expect(conflicts.map(({ path }) => path)).toEqual(names.map((name) => scene.file(name)));
});

test('what a program writes into mapped memory is noticed, although the file was looked at before', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('mapped'), 'a'.repeat(8192));
  const write = `
import mmap, sys
with open("mapped", "r+b") as file: memory = mmap.mmap(file.fileno(), 0)
for letter in "aZ":
    memory[0:1] = letter.encode()
    print(letter, flush=True)
    sys.stdin.readline()`;
  const child = await scene.environment.start({
    argv: ['/usr/bin/python3', '-c', write],
    cwd: scene.workspace,
    sandbox: scene.policy(),
    pipeStdin: true,
  });
  const set = scene.environment.changes('task');
  const said = child.lines();
  for (const kind of ['attributesChanged', 'modified']) {
    await said.next();
    expect((await set.list()).changes).toMatchObject([{ kind }]);
    await child.write('\n');
  }
  await child.wait();
  await set.apply();
  expect(readFileSync(scene.file('mapped'), 'utf8').slice(0, 2)).toBe('Za');
});

test('a file of a terabyte that consists of holes is compared, shown, read and applied at once', async () => {
  await using scene = new Scene();
  const [file, size] = [scene.file('disk.img'), 1024 ** 4];
  writeFileSync(file, 'begin');
  truncateSync(file, size);
  await scene.run('touch -d 2020-01-01 disk.img');
  const set = scene.environment.changes('task');
  expect((await set.list()).changes).toMatchObject([{ kind: 'attributesChanged', size, baseSize: size }]);
  await scene.run(`printf end | dd of=disk.img bs=1 seek=${size / 2} conv=notrunc status=none`);
  expect((await set.list()).changes).toMatchObject([{ kind: 'modified', size, baseSize: size }]);
  expect((await set.diff()).diffs).toMatchObject([{ omitted: 'tooLarge' }]);
  const { bytes } = await set.read(file, { side: 'held', offset: size / 2, maxBytes: 4 });
  expect(Buffer.from(bytes).toString()).toBe('end\0');
  expect((await set.apply()).applied.modified).toBe(1);
  expect(statSync(file)).toMatchObject({ size });
  expect(statSync(file).blocks).toBeLessThan(10_000);
  expect((await set.list()).changes).toEqual([]);
});

test.runIf(existsSync('/dev/shm'))('what is written in shared memory is held as well', async () => {
  await using scene = new Scene();
  const workspace = mkdtempSync('/dev/shm/execwire-changes-');
  try {
    const sandbox = holdingPolicy([workspace], 'task');
    await scene.environment.run(['/usr/bin/touch', 'made'], { cwd: workspace, sandbox });
    expect(readdirSync(workspace)).toEqual([]);
    const set = scene.environment.changes('task');
    expect((await set.list()).counts.created).toBe(1);
    await set.apply();
    expect(readdirSync(workspace)).toEqual(['made']);
    await set.discard();
  } finally {
    rmSync(workspace, { recursive: true });
  }
});

test('where changes cannot be held, a start is refused with the reason, and nothing is made', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('occupied'), '');
  await using environment = new LocalEnvironment({ changesDirectory: scene.file('occupied/sets') });
  const options = { cwd: scene.workspace, sandbox: scene.policy() };
  await expect(environment.run(['/bin/true'], options)).rejects.toMatchObject({
    code: 'sandboxUnavailable',
    data: { reason: 'changesDirectory' },
  });
});
