/*
 * What a program does to deceive whoever lists, reads and applies its changes. A program of its own, so that a plain user can
 * run it. Usage: node forgeries.mjs FOLDER; prints `ok`, or fails.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../dist/environment/index.js';

const [, , folder = ''] = process.argv;
const [workspace, sets, outside] = ['workspace', 'sets', 'outside'].map((name) => join(folder, name));
for (const name of ['marked', 'replaced']) {
  fs.mkdirSync(join(workspace, name), { recursive: true });
  fs.writeFileSync(join(workspace, name, 'kept'), 'kept');
}
fs.writeFileSync(join(workspace, 'file'), 'base');
fs.writeFileSync(outside, 'secret');

const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
const own = { path: { type: 'path', path: pathToFileURL(workspace).href }, access: 'write' };
const file_system = { type: 'restricted', entries: [root, own] };
const sandbox = {
  permissions: { type: 'managed', network: 'restricted', file_system },
  changes: 'hold',
  changesId: 'forged',
};

const attack = `
import os, shutil
done = []
def attempt(name, act):
    try: act(); done.append(name)
    except OSError: pass
# What an overlay notes for itself.
for mark in ("opaque", "redirect", "origin", "impure"): os.setxattr("marked", "user.overlay." + mark, b"y")
os.setxattr("file", "user.overlay.metacopy", b"")
open("made", "w").write("made")
os.setxattr("made", "user.overlay.whiteout", b"y")
attempt("trusted", lambda: os.setxattr("marked", "trusted.overlay.opaque", b"y"))
attempt("whiteout", lambda: os.mknod("marked/kept2", 0o20600, os.makedev(0, 0)))
attempt("device", lambda: os.mknod("device", 0o60600, os.makedev(8, 0)))
attempt("hard link", lambda: os.link("${outside}", "hard"))
attempt("sets", lambda: os.listdir("${sets}"))
for line in open("/proc/self/mountinfo"):
    path = line.split()[4]
    if path.startswith("${sets}"): attempt(path, lambda: os.listdir(path))
os.mkfifo("fifo")
with open("sparse", "wb") as sparse: sparse.truncate(1 << 42)
# A way out, for whoever follows it.
shutil.rmtree("replaced"); os.symlink("${folder}", "replaced")
os.symlink("${outside}", "link")
print("done:", *done)
`;

const environment = new LocalEnvironment({ changesDirectory: sets });
const { stdout, stderr } = await environment.run(['/usr/bin/python3', '-c', attack], {
  cwd: workspace,
  sandbox,
});
assert.equal(stdout, 'done:\n', stderr);

const set = environment.changes('forged');
const { changes } = await set.list();
assert.deepEqual(
  changes.map(({ path, kind, type }) => `${kind} ${type} ${path.slice(workspace.length + 1)}`),
  [
    'created fifo fifo',
    'attributesChanged file file',
    'created symlink link',
    'created file made',
    'attributesChanged directory marked',
    'typeChanged symlink replaced',
    'deleted file replaced/kept',
    'created file sparse',
  ],
);
const { diffs } = await set.diff();
assert.equal(diffs.length, changes.length);
assert.ok(!JSON.stringify(diffs).includes('secret'));
for (const name of ['fifo', 'link/x', 'replaced/outside', '../outside', 'replaced/../../outside'])
  await assert.rejects(set.read(join(workspace, '.') + `/${name}`, { side: 'held' }));
const { bytes } = await set.read(join(workspace, 'link'), { side: 'held' });
assert.equal(Buffer.from(bytes).toString(), outside);

const before = fs.readdirSync(folder).toSorted();
assert.deepEqual((await set.apply()).conflicts, []);
assert.deepEqual(fs.readdirSync(folder).toSorted(), before);
assert.equal(fs.readFileSync(outside, 'utf8'), 'secret');
assert.equal(fs.readFileSync(join(workspace, 'marked', 'kept'), 'utf8'), 'kept');
assert.equal(fs.readFileSync(join(workspace, 'file'), 'utf8'), 'base');
assert.ok(fs.lstatSync(join(workspace, 'replaced')).isSymbolicLink());
await set.discard();
await environment.close();
assert.deepEqual(fs.readdirSync(sets), []);
console.log('ok');
