// Needs: bwrap, git
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quotedName } from '../../../src/host/changes/diff/quoted-name.js';
import { Scene } from './harness.js';

test.each([
  ['a/plain name', 'a/plain name'],
  ['a/größe', 'a/größe'],
  ['a/new\nline', '"a/new\\nline"'],
  ['a/tab\tand "quotes" and \\', '"a/tab\\tand \\"quotes\\" and \\\\"'],
  ['a/\u001b[31m\u007f', '"a/\\033[31m\\177"'],
])('a name in a patch: %j', (name, quoted) => {
  expect(quotedName(Buffer.from(name))).toBe(quoted);
});

test('a name that is not UTF-8 is written byte by byte', () => {
  expect(quotedName(Buffer.from('a/\xff\xe9x', 'latin1'))).toBe('"a/\\377\\351x"');
});

test('git applies a patch, and the name of a file is never part of one', async () => {
  await using scene = new Scene();
  mkdirSync(scene.file('sub'));
  writeFileSync(scene.file('text'), 'one\ntwo\nthree\n');
  writeFileSync(scene.file('sub/gone'), 'gone\n');
  const forged = `x\n--- a/dev/null\n+++ b${scene.file('text')}\n@@ -1 +1 @@\n-one\n+forged`;
  await scene.run(
    `sed -i s/two/2/ text; rm sub/gone; echo new > 'a "b" c'; printf no-newline > 'größe'; mkdir -p "$(dirname "$NAME")"; echo 1 > "$NAME"`.replaceAll(
      '$NAME',
      forged.replaceAll("'", ''),
    ),
  );
  const { diffs } = await scene.environment.changes('task').diff();
  const patch = diffs.map(({ text }) => text).join('');
  // A copy of the files, under the same path as in the patch.
  const copy = join(scene.folder, 'copy');
  const target = join(copy, scene.workspace);
  mkdirSync(join(target, 'sub'), { recursive: true });
  writeFileSync(join(target, 'text'), 'one\ntwo\nthree\n');
  writeFileSync(join(target, 'sub/gone'), 'gone\n');
  // What only makes directories is no patch for git.
  const files = patch.split(/^(?=diff --git )/m).filter((each) => !each.includes('new file mode 4'));
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: copy, input: files.join('') });
  await scene.environment.changes('task').apply();
  const names = (top: string): string[] => readdirSync(top, { recursive: true }).map(String).toSorted();
  expect(names(target).filter((name) => name !== 'sub')).toEqual(
    names(scene.workspace).filter((name) => name !== 'sub'),
  );
  expect(readFileSync(join(target, 'text'), 'utf8')).toBe('one\n2\nthree\n');
  expect(readFileSync(join(target, 'größe'), 'utf8')).toBe('no-newline');
});

test('what is not UTF-8 is said to be binary, since different bytes would look the same', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('latin1'), Buffer.from('gr\xf6\xdfe\n', 'latin1'));
  await scene.run(`printf 'gr\\366\\374e\\n' > latin1`);
  expect((await scene.environment.changes('task').diff()).diffs).toMatchObject([{ omitted: 'binary' }]);
});
