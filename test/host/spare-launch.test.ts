import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LocalEnvironment } from '../../src/environment/index.js';
import { writableWorkspace } from '../../testkit/sandboxes.mjs';
import { makeProtected, untilOneWaits } from '../harness/waiting-sandbox.js';
import { Place } from './sandbox/harness.js';

const identity = { name: 'whoever runs the tests' };

/** Longer than the program needs: nobody reads or looks meanwhile. */
const STANDSTILL_MS = 300;

test('a program that ends with 127 and says more than the window takes is started none the less', async () => {
  using place = new Place(identity);
  makeProtected(place, identity);
  await using environment = new LocalEnvironment({ windowBytes: 1024 });
  const start = (...argv: string[]) =>
    environment.start({
      argv,
      cwd: place.workspace,
      sandbox: writableWorkspace(place.workspace),
    });
  await untilOneWaits(process.pid, async () => (await start('true')).wait());
  const before = (await environment.list()).length;
  const starting = start('sh', '-c', 'head -c 20000 /dev/zero; exit 127');
  while ((await environment.list()).length === before) await nextTurn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS);
  const program = await starting;
  expect(await program.wait()).toEqual({ kind: 'exited', exitCode: 127 });
});
