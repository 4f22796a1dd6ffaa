// Needs: bwrap
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { startParams } from '../../testkit/wire-client.mjs';
import { diesNoting, DurableServer } from '../harness/durable-server.js';
import { gone, TestFolder } from '../harness/processes.js';
import { reconnect } from '../harness/reconnect.js';

const SLOW = { timeout: 90_000 };

test.each([
  { where: 'without a sandbox', policy: null, line: '["process ' },
  { where: 'in a sandbox', policy: 'workspace-write', line: '["sandbox ' },
] as const)(
  'a kept program $where runs once, although its server died before it could answer',
  SLOW,
  async ({ policy, line }) => {
    await using server = await DurableServer.start({ env: diesNoting(line) });
    using workspace = new TestFolder();
    const sandbox = policy && { sandbox: { policy, workspace: workspace.path } };
    await using environment = await openEnvironment(server.url, { ...sandbox });
    const mark = `execwire-kept-${process.pid}`;
    const program = await environment.start({
      argv: ['/bin/sh', '-c', 'echo $0; cat; exit 5', mark],
      cwd: workspace.path,
      pipeStdin: true,
      lease: 'kept',
    });
    await program.write('once\n');
    await program.closeStdin();
    expect(await program.text()).toBe(`${mark}\nonce\n`);
    expect(await program.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
    await gone(mark);
  },
);

test('whoever has left what it started does not use it again when the server has died', SLOW, async () => {
  await using server = await DurableServer.start();
  const first = await reconnect(server.url);
  await first.call('process/start', startParams('job', ['cat'], { pipeStdin: true, lease: 'kept' }));
  await first.call('process/detach', { processId: 'job' });
  server.kill();
  const second = await reconnect(server.url, { resumeSessionId: first.id });
  const { processes } = await second.call('process/list', { scope: 'server' });
  expect(processes).toMatchObject([{ processId: 'job', attached: 0 }]);
  await second.call('process/attach', { processId: 'job' });
  await second.call('process/terminate', { processId: 'job' });
});
