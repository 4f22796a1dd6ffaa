// Needs: bwrap, setpriv
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { sh } from '../../../testkit/wire-client.mjs';
import { DEFAULT_PROTECTED_NAMES } from '../../../src/policy/internal.js';
import { NAMESPACE, untilOneWaits, waitingShells } from '../../harness/waiting-sandbox.js';
import { identities } from '../sandbox/harness.js';
import { heldServer, holdingPolicy, runnerOf, Scene } from './harness.js';

// Sandboxes are made ahead only where the processor has time for that.
vi.setConfig({ testTimeout: 120_000 });

const untilReady = (scene: Scene) => untilOneWaits(process.pid, () => scene.run('true'));

/** With the names that are protected there already, no placeholder is needed, and a sandbox waits for seconds. */
function sceneWithNames(): Scene {
  const scene = new Scene();
  for (const name of DEFAULT_PROTECTED_NAMES) mkdirSync(scene.file(name));
  return scene;
}

const readable = (path: string): object => ({
  path: { type: 'path', path: pathToFileURL(path).href },
  access: 'read',
});

test.each(identities)(
  'on a server run by $name, the next program of a set finds its sandbox made',
  async (identity) => {
    await using host = await heldServer(identity);
    const run = runnerOf(host);
    await run(sh('echo held > file'));
    const { namespace } = await untilOneWaits(host.server.pid, () => run(['true']));
    expect(await run(sh(`${NAMESPACE}; cat file`))).toBe(`${namespace}\nheld\n`);
  },
);

test.each(identities)('a set of $name gets another directory', async (identity) => {
  await using host = await heldServer(identity);
  const run = runnerOf(host);
  await run(sh('echo held > file'));
  const path = { type: 'path', path: pathToFileURL(host.place.outside).href };
  const script = `echo too > ${host.place.outside}/other; cat file ${host.place.outside}/other`;
  expect(await run(sh(script), [{ path, access: 'write' }])).toBe('held\ntoo\n');
  expect(readdirSync(host.place.outside)).not.toContain('other');
});

test('the next program of a set runs in a sandbox made ahead, and sees all that is held by then', async () => {
  await using scene = sceneWithNames();
  const { namespace } = await untilReady(scene);
  await scene.environment.files.writeFile(scene.file('late'), 'held\n', { sandbox: scene.policy() });
  expect(await scene.run(`${NAMESPACE}; cat late; echo more >> late`)).toBe(`${namespace}\nheld\n`);
  expect(await scene.run('cat late')).toBe('held\nmore\n');
  const { counts } = await scene.environment.changes('task').list();
  expect(counts).toEqual({ created: 1, modified: 0, deleted: 0 });
  expect(readdirSync(scene.workspace)).not.toContain('late');
});

test('a program of another set does not run in it', async () => {
  await using scene = sceneWithNames();
  await scene.run('echo first > file');
  const { namespace } = await untilReady(scene);
  const other = await scene.run(`${NAMESPACE}; ls`, scene.policy('other'));
  expect(other).toMatch(/^mnt:\[\d+\]\n$/);
  expect(other).not.toContain(namespace);
});

test('it is gone when its set is discarded, and a set of the same name starts empty', async () => {
  await using scene = sceneWithNames();
  await scene.run('echo first > file');
  await untilReady(scene);
  await scene.environment.changes('task').discard();
  expect(waitingShells(process.pid)).toEqual([]);
  expect(readdirSync(scene.sets)).toEqual([]);
  expect(await scene.run('ls')).toBe('');
});

test('what was held is applied while it waits, and the next program sees the same', async () => {
  await using scene = sceneWithNames();
  await scene.run('echo first > file; mkdir made');
  await untilReady(scene);
  const { applied } = await scene.environment.changes('task').apply();
  expect(applied).toEqual({ created: 2, modified: 0, deleted: 0 });
  expect(await scene.run('cat file; ls')).toBe('first\nfile\nmade\n');
  expect((await scene.environment.changes('task').list()).changes).toEqual([]);
});

test('it is not used once a protected directory is another one', async () => {
  await using scene = sceneWithNames();
  await scene.run('mkdir kept');
  const policy = scene.policy('task', [readable(scene.file('kept'))]);
  await untilOneWaits(process.pid, () => scene.run('true', policy));
  const { files } = scene.environment;
  await files.rename(scene.file('kept'), scene.file('moved'), { sandbox: scene.policy() });
  await files.createDirectory(scene.file('kept'), { sandbox: scene.policy() });
  const script = 'touch kept/made 2>/dev/null || echo protected; touch moved/made && echo free';
  expect(await scene.run(script, policy)).toBe('protected\nfree\n');
});

test('programs and file operations see what their set holds in a directory that was added to it meanwhile', async () => {
  await using scene = sceneWithNames();
  const added = join(scene.folder, 'added');
  mkdirSync(added);
  writeFileSync(join(added, 'file'), 'before');
  const read = () => scene.environment.files.readFile(join(added, 'file'), { sandbox: scene.policy() });
  expect(Buffer.from(await read()).toString()).toBe('before');
  await untilReady(scene);
  await scene.run(`printf held > ${added}/file`, holdingPolicy([added], 'task'));
  expect(await scene.run(`cat ${added}/file`)).toBe('held');
  expect(Buffer.from(await read()).toString()).toBe('held');
});
