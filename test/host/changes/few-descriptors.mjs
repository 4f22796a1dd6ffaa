/*
 * Lists, shows, reads and applies with ever more free descriptors. Prints how many it took to apply, and every answer on the way.
 * A program of its own, since its limit is lowered. Usage: node few-descriptors.mjs FOLDER
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../dist/environment/index.js';

const LIMIT = 96;
const [, , folder = ''] = process.argv;
const workspace = join(folder, 'workspace');
fs.mkdirSync(join(workspace, 'old/a/b'), { recursive: true });
fs.writeFileSync(join(workspace, 'old/a/b/file'), '1');
const environment = new LocalEnvironment({ changesDirectory: join(folder, 'sets') });
const place = (path, access) => ({ path, access });
const entries = [
  place({ type: 'special', value: { kind: 'root' } }, 'read'),
  place({ type: 'path', path: pathToFileURL(workspace).href }, 'write'),
];
const sandbox = {
  permissions: {
    type: 'managed',
    network: 'restricted',
    file_system: { type: 'restricted', entries },
  },
  changes: 'hold',
  changesId: 'task',
};
const script = 'for i in 1 2 3 4 5; do mkdir -p n/$i/x; echo $i > n/$i/x/f; done; rm -r old; ln n/1/x/f hard';
const { exitCode } = await environment.run(['/bin/bash', '-c', script], { cwd: workspace, sandbox });
assert.equal(exitCode, 0);
const set = environment.changes('task');
assert.deepEqual((await set.list()).counts, { created: 17, modified: 0, deleted: 4 });

const names = () => fs.readdirSync(workspace, { recursive: true, encoding: 'utf8' }).toSorted();
const descriptors = () => fs.readdirSync('/proc/self/fd').length;
const [before, open] = [names(), descriptors()];
execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${LIMIT}:`]);

/** Does something while only this many descriptors are free. Null if it worked. */
async function withFree(free, use) {
  const taken = [];
  try {
    for (;;) taken.push(fs.openSync('/dev/null', 'r'));
  } catch {
    for (let left = free; left > 0; left -= 1) fs.closeSync(taken.pop());
  }
  try {
    await use();
    return null;
  } catch (error) {
    return `${error.code} ${error.message}`;
  } finally {
    for (const fd of taken) fs.closeSync(fd);
  }
}

const uses = [
  () => set.list(),
  () => set.diff(),
  () => set.read(join(workspace, 'n/1/x/f'), { side: 'held' }),
  () => set.apply(),
];
for (let free = 0, applied = false; !applied; free += 1) {
  assert.ok(free < 40, 'it never works');
  for (const use of uses) {
    const refused = await withFree(free, use);
    applied = refused === null;
    if (refused !== null) console.log(refused);
    if (!applied) assert.deepEqual(names(), before);
  }
}
assert.deepEqual((await set.list()).changes, []);
assert.ok(names().includes('hard') && !names().includes('old'));
assert.ok(descriptors() <= open, 'descriptors are left open');
await set.discard();
await environment.close();
console.log('applied');
