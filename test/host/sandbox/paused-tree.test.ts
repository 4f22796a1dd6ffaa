import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { pauseTree } from '../../../src/host/sandbox/launch/paused-tree.js';
import { isStopped } from '../../../src/host/sandbox/launch/process-state.js';
import { SandboxStatus } from '../../../src/host/sandbox/launch/status.js';

async function until(probe: () => boolean): Promise<void> {
  while (!probe()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a tree that is paused for two reasons goes on when both are over, in any order', async () => {
  // The tree below it counts, as below the first process of a sandbox.
  const init = spawn('/bin/sh', ['-c', '/bin/sh -c "echo runs; read -r end"; :'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await once(init.stdout, 'data');
  const sandbox = Object.create(SandboxStatus.prototype) as SandboxStatus;
  const pause = (): NonNullable<ReturnType<typeof pauseTree>> => {
    const paused = pauseTree(sandbox, init.pid ?? 0);
    if (paused === null) throw new Error('it was not paused');
    return paused;
  };
  const [first, second] = [pause(), pause()];
  const [pid = 0] = first.pids;
  await until(() => isStopped(pid));
  first.resume();
  expect(isStopped(pid)).toBe(true);
  const third = pause();
  second.resume();
  expect(isStopped(pid)).toBe(true);
  third.resume();
  await until(() => !isStopped(pid));
  init.stdin.end('end\n');
  expect(await once(init, 'exit')).toEqual([0, null]);
});
