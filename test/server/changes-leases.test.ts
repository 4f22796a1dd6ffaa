// Needs: bwrap
import { mkdirSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { TestFolder } from '../harness/processes.js';
import { holdingPolicy } from '../host/changes/harness.js';

test('a set goes with its session, and a kept one stays for whoever comes next', async () => {
  using folder = new TestFolder();
  const [workspace, sets] = [folder.file('workspace'), folder.file('sets')];
  mkdirSync(workspace);
  await using server = new ExecServer({ sessionTtlMs: 50, changesDirectory: sets });
  let cut = (): void => {};
  const open = () =>
    RemoteEnvironment.connect({
      id: 'memory',
      dial: async () => {
        const [near, far] = createMemoryChannels();
        void server.accept(far, { principal: 'somebody' });
        cut = () => far.close('cut');
        return near;
      },
      resume: false,
    });
  const policy = (changesId: string) => holdingPolicy([workspace], changesId);
  const first = await open();
  for (const [id, lease] of [
    ['short', 'session'],
    ['long', 'kept'],
  ] as const)
    await first.run(['/bin/touch', id], {
      cwd: workspace,
      sandbox: { ...policy(id), changesLease: lease },
    });
  expect(readdirSync(sets)).toHaveLength(2);
  // The connection breaks, nobody resumes, and the lease of the session runs out.
  cut();
  while (readdirSync(sets).length > 1) await new Promise((resolve) => setTimeout(resolve, 10));
  await using second = await open();
  expect((await second.changeSets()).map(({ changesId }) => changesId)).toEqual(['long']);
  expect((await second.changes('long').list()).counts.created).toBe(1);
  await second.changes('long').discard();
  expect(readdirSync(sets)).toEqual([]);
});
