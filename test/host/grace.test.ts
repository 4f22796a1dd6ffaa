import { afterEach, expect, test } from 'vitest';
import { LocalProcess } from '../../src/host/index.js';
import { killAllTrees } from '../../src/host/spawn/tree-killer.js';
import { eventually, uniqueSeconds } from './spawn/harness.js';
import { isRunning, sleepers } from './spawn/machine.js';

afterEach(async () => {
  await killAllTrees();
});

/** Only root becomes somebody else without a password. */
test.runIf(process.getuid?.() === 0)(
  'who was started by a program that heeds the polite signal is known after its grace, without a mark',
  async () => {
    const seconds = uniqueSeconds();
    const inner = `trap "" TERM; sleep ${seconds}; true`;
    const child = new LocalProcess({
      argv: ['/bin/sh', '-c', `su nobody -s /bin/sh -c '${inner}'; true`],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdin: 'null',
      terminal: null,
    });
    await eventually(() => sleepers(seconds).length === 1);
    await child.terminate({ graceMs: 500 });
    // The shell goes at once; su waits for the one who does not.
    await eventually(() => !isRunning(child.pid));
    expect(sleepers(seconds).length).toBe(1);
    await child.wait();
    await eventually(() => sleepers(seconds).length === 0);
  },
);
