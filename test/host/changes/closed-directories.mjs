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
await environment.close();
console.log('ok');
