import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type LocalProcess, ProcessTable } from '../../src/host/index.js';
import { eventually, uniqueSeconds } from './spawn/harness.js';
import { sleepers } from './spawn/machine.js';

/** More than may be remembered at a time. */
const PROCESSES = 2400;
const AT_A_TIME = 50;

function spec(script: string) {
  const env = { PATH: '/usr/bin:/bin' };
  return { argv: ['/bin/sh', '-c', script], cwd: '/', env, stdin: 'null', terminal: null } as const;
}

async function runOne(table: ProcessTable, script: string): Promise<void> {
  const child = table.start(spec(script));
  await child.wait();
  await child[Symbol.asyncDispose]();
}

test('a table remembers no tree of which nothing is left, and every other one', async () => {
  const table = new ProcessTable();
  const seconds = uniqueSeconds();
  await runOne(table, `setsid -f sleep ${seconds} > /dev/null 2>&1`);
  for (let done = 0; done < PROCESSES; done += AT_A_TIME)
    await Promise.all(Array.from({ length: AT_A_TIME }, () => runOne(table, ':')));
  // A look takes a moment, on a busy machine a long one, in which further ones are started.
  await expect
    .poll(async () => {
      await runOne(table, ':');
      return table.treeCount;
    })
    .toBeLessThan(1500);
  await eventually(() => sleepers(seconds).length === 1);
  await table.close();
  expect({ left: sleepers(seconds), trees: table.treeCount }).toEqual({ left: [], trees: 0 });
}, 120_000);

test('what remembers a tree does not keep its process in memory', async () => {
  const table = new ProcessTable();
  const seen: WeakRef<LocalProcess>[] = [];
  const run = async () => {
    const child = table.start(spec(':'));
    seen.push(new WeakRef(child));
    await child.wait();
    await child[Symbol.asyncDispose]();
  };
  for (let count = 0; count < 100; count += 1) await run();
  expect(table.treeCount).toBeGreaterThan(0);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await expect
    .poll(() => {
      collect();
      return seen.filter((each) => each.deref() !== undefined).length;
    })
    .toBeLessThan(10);
  expect(table.treeCount).toBeGreaterThan(0);
  await table.close();
});

test('a killed tree is not remembered', async () => {
  const table = new ProcessTable();
  const child = table.start(spec('sleep 1000 & wait'));
  await child.kill();
  expect(table.treeCount).toBe(0);
  await table.close();
});
