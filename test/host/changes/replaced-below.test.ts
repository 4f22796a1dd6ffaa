// Needs: bwrap, setpriv
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_PROTECTED_NAMES } from '../../../src/policy/internal.js';
import { sh } from '../../../testkit/wire-client.mjs';
import { untilOneWaits } from '../../harness/waiting-sandbox.js';
import { identities } from '../sandbox/harness.js';
import { heldServer, runnerOf, Scene } from './harness.js';

/** As editors and `git` do. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}~`, text);
  renameSync(`${path}~`, path);
}

test.each(identities)(
  'what somebody replaces, makes or removes is seen by the next program of $name',
  async (identity) => {
    await using host = await heldServer(identity);
    const file = (name: string): string => join(host.place.workspace, name);
    mkdirSync(file('d'));
    for (const name of ['a', 'd/b', 'gone']) writeFileSync(file(name), 'old\n', { mode: 0o666 });
    const run = runnerOf(host);
    const look = sh('cat a d/b gone made 2>/dev/null || true');
    await untilOneWaits(host.server.pid, () => run(look));
    for (const name of ['a', 'd/b']) replace(file(name), 'new\n');
    rmSync(file('gone'));
    writeFileSync(file('made'), 'made\n');
    expect(await run(look)).toBe('new\nnew\nmade\n');
    replace(file('a'), 'newest\n');
    expect(await run(sh('cp a copy && cat copy'))).toBe('newest\n');
  },
);

test('what a program changes after somebody replaced it is no conflict if the program began later', async () => {
  await using scene = new Scene();
  for (const name of ['appended', 'edited', 'rewritten']) writeFileSync(scene.file(name), 'old\n');
  await scene.run('cat *');
  replace(scene.file('appended'), 'new\n');
  replace(scene.file('edited'), 'new\n');
  writeFileSync(scene.file('rewritten'), 'new\n');
  const { files } = scene.environment;
  await scene.run('echo more | tee -a appended >> rewritten; sed -i s/new/newer/ edited');
  const read = async (name: string) =>
    Buffer.from(await files.readFile(scene.file(name), { sandbox: scene.policy() })).toString();
  expect(await Promise.all(['appended', 'edited', 'rewritten'].map(read))).toEqual([
    'new\nmore\n',
    'newer\n',
    'new\nmore\n',
  ]);
  const { changes } = await scene.environment.changes('task').list();
  expect(changes.map(({ conflict }) => conflict)).toEqual([false, false, false]);
});

test('what a program changes after somebody changed it is a conflict if the program was there before', async () => {
  await using scene = new Scene();
  const names = ['appended', 'edited', 'rewritten'];
  for (const name of names) writeFileSync(scene.file(name), 'old\n');
  const script =
    'cat *; read -r go; echo more >> appended; echo more >> rewritten; sed -i s/old/older/ edited';
  const child = await scene.environment.start({
    processId: 'p1',
    argv: ['/bin/bash', '-c', script],
    cwd: scene.workspace,
    pipeStdin: true,
    sandbox: scene.policy(),
  });
  for await (const event of child.events()) {
    if (event.type === 'closed') break;
    if (event.type !== 'output') continue;
    replace(scene.file('appended'), 'new\n');
    replace(scene.file('edited'), 'new\n');
    writeFileSync(scene.file('rewritten'), 'new\n');
    // Others come and go, and do not make the first one forget what it knows.
    await scene.run('true');
    await child.write(Buffer.from('go\n'));
  }
  const set = scene.environment.changes('task');
  const refused = await set.apply();
  expect(refused.conflicts.map(({ path }) => path)).toEqual(names.map((name) => scene.file(name)));
  expect(refused.applied).toEqual({ created: 0, modified: 0, deleted: 0 });
});

test('a directory that somebody replaced as a whole is the one the next program sees', async () => {
  await using scene = new Scene();
  writeFileSync(scene.file('file'), 'old\n');
  await scene.run('cat file; echo held > held');
  const other = `${scene.workspace}.other`;
  mkdirSync(other);
  writeFileSync(join(other, 'file'), 'new\n');
  renameSync(scene.workspace, `${scene.workspace}.old`);
  renameSync(other, scene.workspace);
  expect(await scene.run('cat file held')).toBe('new\nheld\n');
  await scene.run('echo more >> file');
  const set = scene.environment.changes('task');
  expect((await set.apply()).conflicts).toEqual([]);
  expect(readFileSync(scene.file('file'), 'utf8')).toBe('new\nmore\n');
});

test('a protected directory that somebody replaces while sandboxes wait is what everybody sees next', async () => {
  await using scene = new Scene();
  for (const name of DEFAULT_PROTECTED_NAMES) mkdirSync(scene.file(name));
  const config = scene.file('.git', 'config');
  writeFileSync(config, 'old\n');
  const { files } = scene.environment;
  const read = async (): Promise<string> =>
    Buffer.from(await files.readFile(config, { sandbox: scene.policy() })).toString();
  expect(await read()).toBe('old\n');
  await untilOneWaits(process.pid, () => scene.run('true'));
  renameSync(scene.file('.git'), scene.file('moved'));
  mkdirSync(scene.file('.git'));
  writeFileSync(config, 'new\n');
  const look = 'cat .git/config; touch .git/made 2>/dev/null || echo protected';
  expect(await scene.run(look)).toBe('new\nprotected\n');
  expect(await read()).toBe('new\n');
});
