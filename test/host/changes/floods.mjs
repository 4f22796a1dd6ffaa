/*
 * Fills sets of held changes in every way, and checks that each program is ended and that what is held stays usable. A
 * program of its own, so that a plain user can run it. Usage: node floods.mjs FOLDER; prints one line per flood.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../dist/environment/index.js';

const MIB = 1024 * 1024;
/** More files than levels: the deepest flood is to end for its depth. */
const LIMITS = { maxSetBytes: 32 * MIB, maxSetFiles: 1_200, maxTotalBytes: 80 * MIB, maxTotalFiles: 1e6 };

const [, , folder = ''] = process.argv;
const [workspace, sets] = [join(folder, 'workspace'), join(folder, 'sets')];
fs.mkdirSync(workspace);
fs.writeFileSync(join(workspace, 'old'), 'old\n');
const environment = new LocalEnvironment({ changesDirectory: sets, changesLimits: LIMITS });

function policy(changesId) {
  const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
  const own = { path: { type: 'path', path: pathToFileURL(workspace).href }, access: 'write' };
  const file_system = { type: 'restricted', entries: [root, own] };
  return {
    permissions: { type: 'managed', network: 'restricted', file_system },
    changes: 'hold',
    changesId,
  };
}

function run(changesId, argv) {
  return environment.run(argv, { cwd: workspace, sandbox: policy(changesId), timeoutMs: 120_000 });
}

/** Waits until what a program left behind is known. */
async function measured(id) {
  for (;;) {
    const [info] = (await environment.changeSets()).filter(({ changesId }) => changesId === id);
    if (info.bytes > 20 * MIB) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const python = (script) => ['/usr/bin/python3', '-c', script];
const bash = (script) => ['/bin/bash', '-c', script];

/** All of them go on until they are ended. */
const floods = {
  'one-file': bash('echo first > made; cat /dev/zero > big'),
  'many-files': bash('echo first > made; mkdir d; i=0; while :; do i=$((i+1)); : > d/$i; done'),
  'many-directories': python(
    'import os\nopen("made","w").write("first")\ni=0\nwhile 1: os.mkdir(f"d{i}"); i+=1',
  ),
  'mapped-memory': python(`
import mmap, os
open("made","w").write("first")
f = open("mapped", "w+b"); f.truncate(1 << 40)
m = mmap.mmap(f.fileno(), 1 << 30)
for i in range(0, 1 << 30, 4096): m[i] = 1
while 1: pass`),
  'file-without-name': python(`
import os
open("made","w").write("first")
f = os.open("gone", os.O_CREAT | os.O_WRONLY); os.unlink("gone")
block = bytes(1 << 20)
while 1: os.write(f, block)`),
  'behind-a-closed-directory': bash('echo first > made; mkdir a; chmod 000 a; cat /dev/zero > big'),
  'old-file-appended': bash('echo first > made; while :; do cat /bin/bash >> old; done'),
  'deeper-than-any-path': python(`
import os
open("made","w").write("first")
while 1: os.mkdir("d"); os.chdir("d")`),
};

for (const [name, argv] of Object.entries(floods)) {
  const result = await run(name, argv);
  assert.equal(result.changesFull, true, `${name}: ${JSON.stringify(result)}`);
  assert.equal(result.signal, 'SIGKILL');
  const set = environment.changes(name);
  const made = await set.read(join(workspace, 'made'), { side: 'held' });
  assert.equal(Buffer.from(made.bytes).toString().trim(), 'first');
  if (name === 'deeper-than-any-path') await assert.rejects(set.list(), { code: 'changesFull' });
  else assert.equal((await set.list({ glob: 'made' })).counts.created, 1);
  if (name !== 'file-without-name') {
    await assert.rejects(run(name, ['/bin/true']), { code: 'changesFull' });
    const writing = environment.files.writeFile(join(workspace, 'more'), 'x', { sandbox: policy(name) });
    await assert.rejects(writing, { code: 'changesFull' });
    const text = await environment.files.readFile(join(workspace, 'made'), { sandbox: policy(name) });
    assert.equal(Buffer.from(text).toString().trim(), 'first');
  }
  const [info] = (await environment.changeSets()).filter(({ changesId }) => changesId === name);
  await set.discard();
  console.log(`ok ${name} ${Math.round(info.bytes / MIB)} MiB, ${info.files} files`);
}

// Sparse files take no room.
const sparse = await run('sparse', ['/usr/bin/truncate', '-s', '1T', 'sparse']);
assert.equal(sparse.exitCode, 0);
await environment.changes('sparse').discard();
console.log('ok sparse');

// What others hold counts in total.
const write = (then = '') => bash(`head -c ${24 * MIB} /dev/zero > some; ${then}`);
for (const id of ['first', 'second', 'third']) {
  assert.equal((await run(id, write())).exitCode, 0);
  await measured(id);
}
assert.equal((await run('fourth', write('sleep infinity'))).changesFull, true);
await environment.changes('first').discard();
await environment.changes('fourth').discard();
assert.equal((await run('fifth', write('sleep 2.5'))).exitCode, 0);
console.log('ok total');

await environment.close();
assert.deepEqual(fs.readdirSync(sets), []);
assert.deepEqual(fs.readdirSync(workspace), ['old']);
assert.equal(fs.readFileSync(join(workspace, 'old'), 'utf8'), 'old\n');
console.log('ok nothing-left');
