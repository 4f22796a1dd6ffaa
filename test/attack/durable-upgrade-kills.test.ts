import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { signalOne } from '../../testkit/signal-one.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { runUpgrade } from '../harness/upgrade.js';
import { limitMs, tally, tries } from './tally.js';

/** A keeper gives up on a server that dies 30 times within a minute. */
const KILLS = Math.min(tries(4), 25);
const LIMIT_MS = limitMs(90_000);
/** An upgrade takes about that long, with the command that asks for it. */
const UPGRADE_MS = 700;

/** The running server, and its successor if there is one. */
function serversOf(keeper: number): number[] {
  const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'utf8').split(' ').filter(Boolean);
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--durable');
    } catch {
      return false;
    }
  });
}

test(`${KILLS} times, the old or the new server is killed while one replaces the other`, {
  timeout: LIMIT_MS,
}, async () => {
  await using server = await DurableServer.start();
  await using environment = await openEnvironment(server.url);
  const cat = await environment.start({ argv: ['/bin/sh', '-c', 'cat; exit 5'], cwd: '/', pipeStdin: true });
  const text = cat.text();
  let lines = 0;
  const over = new AbortController();
  const typing = (async () => {
    while (!over.signal.aborted) {
      lines += 1;
      await cat.write(`${lines}\n`);
    }
    await cat.closeStdin();
  })();
  for (let kill = 0; kill < KILLS; kill += 1) {
    // It may fail; nothing else may.
    const upgrade = runUpgrade(server.url);
    await pause((UPGRADE_MS * (kill + 0.5)) / KILLS);
    const servers = serversOf(server.keeper.pid);
    const victim = servers[kill % servers.length];
    if (victim !== undefined) signalOne(victim, 'SIGKILL');
    await upgrade;
  }
  over.abort();
  await typing;
  expect((await text) === Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('')).toBe(true);
  expect(await cat.wait()).toMatchObject({ kind: 'exited', exitCode: 5 });
  tally('servers killed during an upgrade', { tries: KILLS, successes: 0 });
});
