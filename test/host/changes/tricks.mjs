/*
 * Runs everyday tools and tricks twice, with and without holding changes, and compares: the list with the trees, the files
 * below before and after, and what apply makes with what the tool makes by itself. A program of its own, so that a plain
 * user can run it. Usage: node tricks.mjs FOLDER [NAME…]; prints one line per trick, and fails if one differs.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../../dist/environment/index.js';
import { pathBytes } from '../../../dist/protocol/index.js';
import { tricks } from './trick-list.mjs';

const byText = (a, b) => (a < b ? -1 : 1);

const [, , folder = '', ...only] = process.argv;

/** Makes the tree that every trick starts from. */
function makeBase(directory) {
  fs.mkdirSync(directory);
  const script = `
    umask 022; export TZ=UTC
    mkdir -p src/deep/er empty dist; printf 'one\\ntwo\\nthree\\n' > a.txt; printf 'hello\\n' > src/main.c
    for i in $(seq 40); do echo "file $i" > src/deep/f$i; done
    head -c 200000 /dev/zero | tr '\\0' x > big.bin; printf '\\0\\1\\2' > bin.dat
    ln -s a.txt link; ln -s nowhere broken; ln a.txt hard; mkfifo pipe; chmod 755 src/main.c; chmod 600 big.bin
    echo keep > src/deep/er/kept; echo '{"name":"x","version":"1.0.0"}' > package.json
    find . -exec touch -h -d '2024-03-01 12:00:00.123456789' {} +`;
  execFileSync('bash', ['-ec', script], { cwd: directory });
}

/** Everything about a tree that must be equal, by path; times of directories follow what is in them. */
function describe(directory, { attributes = false } = {}) {
  const found = new Map();
  const inodes = new Map();
  const extended = attributes ? extendedAttributes(directory) : {};
  const walk = (parent, relative) => {
    // By descriptor: deep paths are longer than the system takes.
    const fd = fs.openSync(parent, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
    const path = Buffer.from(`/proc/self/fd/${fd}`);
    for (const name of fs.readdirSync(path, { encoding: 'buffer' })) {
      const entry = Buffer.concat([path, Buffer.from('/'), name]);
      const shown = relative + name.toString('latin1');
      const node = fs.lstatSync(entry, { bigint: true });
      const names = inodes.get(node.ino) ?? [];
      inodes.set(node.ino, [...names, shown]);
      found.set(shown, { node, text: `${textOf(entry, node)} ${extended[shown] ?? ''}` });
      if (node.isDirectory()) walk(entry, `${shown}/`);
    }
    fs.closeSync(fd);
  };
  walk(Buffer.from(directory), '');
  const linked = [...inodes.values()]
    .filter((names) => names.length > 1)
    .map((names) => names.toSorted(byText).join(' = '));
  return { found, linked: linked.toSorted(byText) };
}

/** Node cannot read them. */
function extendedAttributes(directory) {
  const code =
    'import os,json,sys\nprint(json.dumps({os.path.relpath(os.path.join(d,n)): repr([(a,os.getxattr(os.path.join(d,n),a,follow_symlinks=False)) for a in sorted(os.listxattr(os.path.join(d,n),follow_symlinks=False))]) for d,ds,fs in os.walk(".") for n in ds+fs}))';
  return JSON.parse(execFileSync('python3', ['-c', code], { cwd: directory, encoding: 'utf8' }));
}

function textOf(entry, node) {
  const common = [Number(node.mode).toString(8), node.uid, node.gid].join(':');
  if (node.isSymbolicLink()) return `${common} -> ${fs.readlinkSync(entry, 'latin1')}`;
  if (!node.isFile()) return common;
  return `${common} ${node.size} ${createHash('sha1').update(readAnyway(entry, node)).digest('hex')}`;
}

function readAnyway(entry, node) {
  try {
    return fs.readFileSync(entry);
  } catch {
    fs.chmodSync(entry, 0o600);
    const bytes = fs.readFileSync(entry);
    fs.chmodSync(entry, Number(node.mode) & 0o7777);
    return bytes;
  }
}

function differences(before, after) {
  const found = new Map();
  for (const [path, { node, text }] of after.found) {
    const old = before.found.get(path);
    if (old === undefined) found.set(path, 'created');
    else if ((old.node.mode & 0o170000n) !== (node.mode & 0o170000n)) found.set(path, 'typeChanged');
    else if (old.text !== text || (!node.isDirectory() && old.node.mtimeNs !== node.mtimeNs))
      found.set(path, 'changed');
  }
  for (const path of before.found.keys()) if (!after.found.has(path)) found.set(path, 'deleted');
  return found;
}

const KINDS = { modified: 'changed', linkChanged: 'changed', attributesChanged: 'changed' };

function listed(changes, directory) {
  const found = new Map();
  for (const { path, kind } of changes) {
    const relative = Buffer.from(pathBytes(path))
      .toString('latin1')
      .slice(Buffer.byteLength(directory) + 1);
    if (relative === '') continue;
    found.set(relative, KINDS[kind] ?? kind);
  }
  return found;
}

function equal(what, a, b, problems) {
  const [left, right] = [new Map(a), new Map(b)];
  for (const [key, value] of left)
    if (right.get(key) !== value)
      problems.push(`${what}: ${JSON.stringify(key)}: ${value} / ${right.get(key)}`);
  for (const key of right.keys())
    if (!left.has(key)) problems.push(`${what}: only on the right: ${JSON.stringify(key)} ${right.get(key)}`);
}

const texts = ({ found }, times) =>
  [...found].map(([path, { node, text }]) => [
    path,
    times && !node.isDirectory() ? `${text} ${node.mtimeNs}` : text,
  ]);

async function tryTrick(
  environment,
  { name, script, fixedTimes = false, isCopied = false, attributes = false },
) {
  const [held, plain] = [join(folder, `${name}-held`), join(folder, `${name}-plain`)];
  for (const directory of [held, plain]) makeBase(directory);
  const problems = [];
  const look = (directory) => describe(directory, { attributes });
  const before = look(held);
  const root = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' };
  const policy = (directory) => ({
    permissions: {
      type: 'managed',
      network: 'restricted',
      file_system: {
        type: 'restricted',
        entries: [root, { path: { type: 'path', path: pathToFileURL(directory).href }, access: 'write' }],
      },
    },
    protectedNames: [],
  });
  const run = async (directory, sandbox) => {
    const result = await environment.run(['bash', '-ec', `umask 022; export HOME=$PWD LC_ALL=C\n${script}`], {
      cwd: directory,
      sandbox: { ...policy(directory), ...sandbox },
    });
    if (result.exitCode !== 0)
      problems.push(`exit ${result.exitCode}: ${result.stdout.slice(-300)}${result.stderr.slice(-500)}`);
  };
  await run(held, { changes: 'hold', changesId: name });
  await run(plain, {});
  equal('untouched', texts(before, true), texts(look(held), true), problems);
  const set = environment.changes(name);
  const changes = [];
  for (let cursor = null; ; ) {
    const page = await set.list({ cursor });
    changes.push(...page.changes);
    cursor = page.cursor;
    if (cursor === null) break;
  }
  await set.apply();
  const after = look(held);
  equal('list', listed(changes, held), differences(before, after), problems);
  const expected = look(plain);
  equal('applied', texts(after, fixedTimes), texts(expected, fixedTimes), problems);
  if (!isCopied && JSON.stringify(after.linked) !== JSON.stringify(expected.linked))
    problems.push(`links: ${JSON.stringify(after.linked)} / ${JSON.stringify(expected.linked)}`);
  const left = (await set.list()).changes;
  if (left.length > 0) problems.push(`left after apply: ${JSON.stringify(left.slice(0, 3))}`);
  await set.discard();
  for (const directory of [held, plain])
    execFileSync('bash', ['-c', 'chmod -R u+rwx "$1"; rm -rf "$1"', 'sh', directory], { stdio: 'ignore' });
  return problems;
}

const environment = new LocalEnvironment({ changesDirectory: join(folder, 'sets') });
let failed = 0;
for (const trick of tricks) {
  if (only.length > 0 && !only.includes(trick.name)) continue;
  const problems = await tryTrick(environment, trick).catch((error) => [`${error.code} ${error.stack}`]);
  if (problems.length > 0) failed += 1;
  console.log(
    `${problems.length === 0 ? 'ok' : 'FAILED'} ${trick.name}${problems
      .slice(0, 6)
      .map((text) => `\n    ${text}`)
      .join('')}`,
  );
}
const leftBehind = fs.readdirSync(join(folder, 'sets'));
if (leftBehind.length > 0) console.log(`FAILED nothing is left behind: ${leftBehind.join(' ')}`);
await environment.close();
process.exit(failed === 0 && leftBehind.length === 0 ? 0 : 1);
