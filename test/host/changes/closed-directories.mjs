/*
 * A directory that its own user may not write to is listed and measured at once, over and over: what the one does to get in
 * must not look like a change to the other. A program of its own, so that a plain user can run it, for whom it matters.
 * Usage: node closed-directories.mjs FOLDER; prints `ok`, or fails.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../dist/environment/index.js';
import { measure } from '../../../dist/host/changes/set-size.js';

const [, , folder = ''] = process.argv;
const [workspace, sets] = ['workspace', 'sets'].map((name) => join(folder, name));
fs.mkdirSync(join(workspace, 'closed'), { recursive: true });
fs.chmodSync(join(workspace, 'closed'), 0o555);

const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
const own = { path: { type: 'path', path: pathToFileURL(workspace).href }, access: 'write' };
const file_system = { type: 'restricted', entries: [root, own] };
const permissions = { type: 'managed', network: 'restricted', file_system };
const sandbox = { permissions, changes: 'hold', changesId: 'closed' };

const environment = new LocalEnvironment({ changesDirectory: sets });
// So many that looking through them takes several turns of the event loop.
const script = 'chmod u+w closed; cd closed; seq 4000 | xargs touch; chmod u-w .';
const { exitCode } = await environment.run(['/bin/bash', '-c', script], { cwd: workspace, sandbox });
assert.equal(exitCode, 0);

const [name = ''] = fs.readdirSync(sets);
const directory = join(sets, name);
const state = { isOver: false };
const measuring = (async () => {
  while (!state.isOver) await measure(directory, 1, { bytes: Infinity, files: Infinity });
})();
const set = environment.changes('closed');
for (let round = 0; round < 8; round += 1)
  assert.deepEqual((await set.list({ limit: 1 })).counts, { created: 4000, modified: 0, deleted: 0 });

// A program that opens it meanwhile has the last word, although it gives it the mode that we give it.
for (let round = 0; round < 4; round += 1) {
  for (const mode of ['u+w', 'u-w']) {
    const chmod = await environment.run(['/bin/chmod', mode, 'closed'], { cwd: workspace, sandbox });
    assert.equal(chmod.exitCode, 0);
    state.isOver = mode === 'u+w' && round === 3;
    if (state.isOver) break;
  }
}
await measuring;
const { mode } = fs.statSync(join(directory, '0', 'upper', 'closed'));
assert.equal(mode & 0o777, 0o755);
assert.equal((await set.list({ limit: 1 })).counts.modified, 1);
await set.discard();

// What is in closed directories is listed, shown, and applied, whoever has closed them.
const put = (name, text) => fs.writeFileSync(join(workspace, name), text);
for (const name of ['old', 'inner']) fs.mkdirSync(join(workspace, name));
for (const name of ['old/file', 'old/gone', 'inner/file']) put(name, 'old\n');
for (const name of ['old', 'inner']) fs.chmodSync(join(workspace, name), 0o000);
const close = `
  chmod 700 old; echo held > old/file; rm old/gone; chmod 000 old
  mkdir -p new/deep; echo new > new/deep/file; chmod 000 new/deep new; chmod 700 inner; rm -r inner; mkdir inner; chmod 500 .`;
const shut = { cwd: workspace, sandbox: { ...sandbox, changesId: 'shut' } };
assert.equal((await environment.run(['/bin/bash', '-ec', close], shut)).stderr, '');
const held = environment.changes('shut');
const { changes } = await held.list();
const listed = changes.map(({ kind, path }) => `${kind} ${path.slice(workspace.length + 1)}`);
const expected = ['created new', 'created new/deep', 'created new/deep/file'];
expected.push('attributesChanged inner', 'deleted inner/file', 'modified old/file', 'deleted old/gone');
assert.deepEqual(listed.toSorted(), ['attributesChanged ', ...expected].toSorted());
const { diffs } = await held.diff();
assert.match(diffs.map(({ text }) => text).join(''), /-old\n\+held\n/);
assert.match((await held.diff({ paths: [join(workspace, 'new')] })).diffs[2]?.text ?? '', /\+new\n/);
assert.equal(
  Buffer.from((await held.read(join(workspace, 'new/deep/file'), { side: 'held' })).bytes).toString(),
  'new\n',
);
assert.deepEqual((await held.apply()).conflicts, []);
const modes = ['', 'old', 'new', 'inner'].map((path) => fs.statSync(join(workspace, path)).mode & 0o777);
assert.deepEqual(modes, [0o500, 0o000, 0o000, 0o755]);
for (const path of ['', 'old', 'new', 'new/deep']) fs.chmodSync(join(workspace, path), 0o700);
assert.equal(fs.readFileSync(join(workspace, 'old/file'), 'utf8'), 'held\n');
assert.deepEqual(fs.readdirSync(join(workspace, 'old')), ['file']);
assert.equal(fs.readFileSync(join(workspace, 'new/deep/file'), 'utf8'), 'new\n');
assert.deepEqual(
  (await held.list()).changes.map(({ kind }) => kind).filter((kind) => kind !== 'attributesChanged'),
  [],
);
await held.discard();
await environment.close();
console.log('ok');
