import { spawn as nodeSpawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { adoptOrphans, killTrees } from '../../../src/host/spawn/index.js';
import { killAllTrees } from '../../../src/host/spawn/tree-killer.js';
import {
  dismissWatchdog,
  ensureWatchdog,
  onWatchdogTrouble,
  watchdogPid,
} from '../../../src/host/spawn/watchdog.js';
import { spawnPortableChild } from '../../../src/host/spawn/portable-spawn.js';
import { escapeArtists, eventually, kinds, type screen, shell, start, uniqueSeconds } from './harness.js';
import { pidsWithArgument } from '../../harness/processes.js';
import { isRunning, sleepers, zombieChildren } from './machine.js';
import { signalOne } from '../../../testkit/signal-one.mjs';

const busyFixture = fileURLToPath(new URL('../../fixtures/busy-spawner.mjs', import.meta.url));
const serverFixture = fileURLToPath(new URL('../../fixtures/tree-server.mjs', import.meta.url));

/** Each of them looks at every process there is, which a busy machine has many of. */
const SWEEPS = 150;
const SWEEPS_LIMIT_MS = 120_000;

async function startTree(terminal: typeof screen | null = null) {
  const seconds = uniqueSeconds();
  const tree = shell(escapeArtists(seconds), { terminal });
  await eventually(() => sleepers(seconds).length === 5);
  return { ...tree, seconds };
}

afterEach(async () => {
  await killAllTrees();
});

describe('killing a tree', () => {
  test.each(kinds)('nothing of it is left, whichever door it took: %s', async (_name, terminal) => {
    const { child, seen, seconds } = await startTree(terminal);
    expect(child.survivors()).toEqual(expect.arrayContaining([child.pid, ...sleepers(seconds)]));
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    expect(child.survivors()).toEqual([]);
    await seen.untilClosed();
  });

  test('works when the direct child is long gone', async () => {
    const seconds = uniqueSeconds();
    const { child, seen } = shell(`setsid -f sleep ${seconds} > /dev/null 2>&1; exit 0`);
    await seen.untilClosed();
    await eventually(() => sleepers(seconds).length === 1);
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
  });

  test('leaves other trees alone', async () => {
    const [doomed, spared] = [await startTree(), await startTree()];
    expect(await doomed.child.killTree()).toBe(true);
    expect(sleepers(spared.seconds).length).toBe(5);
    expect(await killTrees([spared.child.treeId])).toBe(true);
    expect(sleepers(spared.seconds)).toEqual([]);
  });

  test('several trees in one go, and everything at once', async () => {
    const trees = [await startTree(), await startTree(), await startTree()];
    const treeIds = trees.slice(0, 2).map(({ child }) => child.treeId);
    expect(await killTrees(treeIds)).toBe(true);
    expect(trees.map(({ seconds }) => sleepers(seconds).length)).toEqual([0, 0, 5]);
    expect(await killAllTrees()).toBe(true);
    expect(trees.map(({ seconds }) => sleepers(seconds).length)).toEqual([0, 0, 0]);
    for (const { seen } of trees) await seen.untilClosed();
  });

  test('a program that forks all the time is caught', async () => {
    const seconds = uniqueSeconds();
    const { child, seen } = shell(
      `i=0; while [ $i -lt 300 ]; do setsid sleep ${seconds} & i=$((i+1)); done; wait`,
    );
    await eventually(() => sleepers(seconds).length > 10);
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    await seen.untilClosed();
  });

  test('a server inside the tree goes with all that it started', async () => {
    const seconds = uniqueSeconds();
    const { child, seen } = start([process.execPath, serverFixture, escapeArtists(seconds)]);
    await seen.until(({ events }) => events.length > 0);
    const innerWatchdog = Number(seen.text().trim());
    await eventually(() => sleepers(seconds).length === 5);
    expect(await child.killTree()).toBe(true);
    await eventually(() => sleepers(seconds).length === 0 && !isRunning(innerWatchdog));
    await seen.untilClosed();
  });

  test('adopted orphans are reaped: no zombie stays with us', async () => {
    expect(adoptOrphans()).toBe(true);
    const { child, seen } = await startTree();
    await child.killTree();
    await seen.untilClosed();
    await eventually(() => zombieChildren().length === 0);
  });

  test('a server that is our child, and marks itself while it spawns, is not taken for an orphan', {
    timeout: SWEEPS_LIMIT_MS,
  }, async () => {
    expect(adoptOrphans()).toBe(true);
    const server = nodeSpawn(process.execPath, [busyFixture], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(server.stdout, 'data');
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) await killAllTrees();
    expect(server.signalCode).toBe(null);
    const exit = once(server, 'exit');
    server.kill('SIGTERM');
    await exit;
  });

  test('without marks the session and all descendants by parentage are found', async () => {
    const seconds = uniqueSeconds();
    const script = `sleep ${seconds} & setsid sleep ${seconds} & echo ready; wait`;
    const { child, seen } = shell(script, {}, spawnPortableChild);
    await eventually(() => sleepers(seconds).length === 2);
    expect(await child.killTree()).toBe(true);
    expect(sleepers(seconds)).toEqual([]);
    await seen.untilClosed();
  });
});

describe('the watchdog', () => {
  test('ends all trees when the server is killed, then itself', async () => {
    const seconds = uniqueSeconds();
    const server = nodeSpawn(process.execPath, [serverFixture, escapeArtists(seconds)]);
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const watchdog = Number(line.toString().trim());
    await eventually(() => sleepers(seconds).length === 5);
    server.kill('SIGKILL');
    await once(server, 'exit');
    await eventually(() => sleepers(seconds).length === 0 && !isRunning(watchdog));
  });

  test('is not touched by killAllTrees and goes when it is told farewell', async () => {
    await start(['true']).seen.untilClosed();
    const watchdog = watchdogPid() ?? 0;
    expect(isRunning(watchdog)).toBe(true);
    expect(await killAllTrees()).toBe(true);
    expect(isRunning(watchdog)).toBe(true);
    dismissWatchdog();
    expect(watchdogPid()).toBe(null);
    await eventually(() => !isRunning(watchdog));
  });

  test('is there before the first child: one that kills the server at once goes too', async () => {
    const seconds = uniqueSeconds();
    const script = `kill -9 $PPID; exec sleep ${seconds}`;
    const server = nodeSpawn(process.execPath, [serverFixture, script]);
    await once(server, 'exit');
    // In this order: who is no shell any more may be a sleeper by now.
    await eventually(() => pidsWithArgument(script).length === 0 && sleepers(seconds).length === 0);
  });

  test('is replaced at once should it die, and somebody is told', async () => {
    const said: string[] = [];
    onWatchdogTrouble((trouble) => void said.push(trouble));
    ensureWatchdog();
    const first = watchdogPid() ?? 0;
    signalOne(first, 'SIGKILL');
    await eventually(() => watchdogPid() !== first && watchdogPid() !== null);
    expect(isRunning(watchdogPid() ?? 0)).toBe(true);
    expect(said).toEqual(['replaced']);
  });

  test('is not replaced without end', async () => {
    const said: string[] = [];
    onWatchdogTrouble((trouble) => void said.push(trouble));
    ensureWatchdog();
    while (!said.includes('gaveUp')) {
      const pid = watchdogPid();
      if (pid !== null) signalOne(pid, 'SIGKILL');
      await eventually(() => watchdogPid() !== pid);
    }
    expect({ count: said.length, bounded: said.length < 20, pid: watchdogPid() }).toMatchObject({
      bounded: true,
      pid: null,
    });
    // The next child is a new beginning.
    await start(['true']).seen.untilClosed();
    expect(isRunning(watchdogPid() ?? 0)).toBe(true);
  });

  test('shrugs off signals that are meant for the whole machine', async () => {
    const seconds = uniqueSeconds();
    const server = nodeSpawn(process.execPath, [serverFixture, escapeArtists(seconds)]);
    const [line] = (await once(server.stdout, 'data')) as [Buffer];
    const watchdog = Number(line.toString().trim());
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) signalOne(watchdog, signal);
    server.kill('SIGKILL');
    await once(server, 'exit');
    await eventually(() => sleepers(seconds).length === 0 && !isRunning(watchdog));
  });

  test('does not keep a process alive that has nothing else to do', async () => {
    const server = nodeSpawn(process.execPath, [serverFixture, 'echo ready; exit 0']);
    const [code] = (await once(server, 'exit')) as [number | null];
    expect(code).toBe(0);
  });
});
