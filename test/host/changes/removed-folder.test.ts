// Needs: bwrap
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Scene } from './harness.js';

function removeFolders({ sets }: Scene): void {
  for (const name of readdirSync(sets)) rmSync(join(sets, name), { recursive: true, force: true });
}

test('a program whose set somebody removed from the disk is ended, and the set can be used anew', async () => {
  await using scene = new Scene();
  const child = await scene.environment.start({
    processId: 'p1',
    argv: ['/bin/cat'],
    cwd: scene.workspace,
    pipeStdin: true,
    sandbox: scene.policy(),
  });
  removeFolders(scene);
  await expect(scene.run('true')).rejects.toMatchObject({ code: 'changesNotFound' });
  await expect(scene.environment.changes('task').list()).rejects.toMatchObject({ code: 'changesNotFound' });
  expect(await child.wait()).toMatchObject({ kind: 'signalled', signal: 'SIGKILL' });
  expect(await scene.run('echo held > file; ls')).toBe('file\n');
  const set = scene.environment.changes('task');
  expect((await set.list()).counts).toEqual({ created: 1, modified: 0, deleted: 0 });
  removeFolders(scene);
  await expect(set.list()).rejects.toMatchObject({ code: 'changesNotFound' });
  expect(existsSync(scene.file('file'))).toBe(false);
});
