import { readFileSync } from 'node:fs';
import { durable, serverOf } from '../lib/durable.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { openServer } from '../lib/servers.mjs';
import { repeat, rounded } from '../lib/stats.mjs';
import { openEnvironment } from '../../dist/index.js';
import { signalOne } from '../../testkit/signal-one.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { runEmptyNode } from './ready.mjs';

/** A line every 10 ms: a pause of the server is far longer. */
const TICKS = ['/bin/sh', '-c', 'while sleep 0.01; do echo; done'];
/** A keeper gives up on a server that dies too often. */
const OFTEN = { rounds: 1, count: 10, budgetMs: 30_000 };
/** Lines after which the pause is over. */
const LINES_AFTER = 30;
const NEWCOMER_MS = 20;
const IDLE_PROGRAMS = 10;

export const durableDeath = {
  name: 'durable-death',
  title: 'The death of a server',
  about: 'from `kill -9` of the server until the next byte of a running program arrives',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'node -e 0',
  run: (context) =>
    measurePauses(context, 'death', ({ server, events }) =>
      longestPause(events, async () => {
        const pid = await nextServer(server.pid, null);
        signalOne(pid, 'SIGKILL');
        await nextServer(server.pid, pid);
      }),
    ),
};

export const durableUpgrade = {
  name: 'durable-upgrade',
  title: 'An upgrade of a running server',
  about:
    'the longest time without output of a running program around `server/upgrade`. No connection breaks, and none of ' +
    'the clients that connect meanwhile is refused, or the case fails',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'node -e 0',
  run: (context) =>
    measurePauses(context, 'upgrade', async ({ server, environment, events }) => {
      const over = new AbortController();
      const comers = newcomers(server.url, over.signal);
      const { client: witness } = await dialWire(server.url);
      await witness.handshake();
      const pause = await longestPause(events, () => environment.upgrade());
      over.abort();
      await comers;
      await witness.call('environment/status', null);
      witness.close();
      return pause;
    }),
};

export const durableKeeper = {
  name: 'durable-keeper',
  title: 'The keeper of a server',
  about: `private memory of the keeper, while the server runs ${IDLE_PROGRAMS} programs`,
  metrics: [{ key: 'privateMb', label: 'private MB' }],
  headline: 'privateMb',
  run: ({ servers, scratch }) =>
    withDurable({ servers, scratch, place: 'keeper' }, async ({ subject, server, environment }) => {
      for (let started = 0; started < IDLE_PROGRAMS; started += 1)
        await environment.start({ argv: ['sleep', '1000'], cwd: '/' });
      return [{ subject: subject.name, values: { privateMb: rounded(privateMb(server.pid)) }, samples: 1 }];
    }),
};

/** Beside the start of Node, which the next server cannot do without. */
function measurePauses({ servers, scratch }, place, pauseOf) {
  return withDurable({ servers, scratch, place }, async ({ subject, server, environment }) => {
    const program = await environment.start({ argv: TICKS, cwd: '/' });
    const events = program.events();
    const sample = (limits) => repeat(limits, () => pauseOf({ server, environment, events }));
    const node = { name: 'node -e 0', sample: (limits) => repeat(limits, runEmptyNode) };
    return await measureLatency([{ name: subject.name, sample }, node], OFTEN);
  });
}

async function withDurable({ servers, scratch, place }, run) {
  const plain = servers.find(({ name }) => name === 'execwire ws');
  const subject = durable(plain, scratch, place);
  const server = await openServer(subject);
  const environment = await openEnvironment(server.url);
  try {
    return await run({ subject, server, environment });
  } finally {
    await environment[Symbol.asyncDispose]();
    await server.stop();
  }
}

/** Another server than this one. On a busy machine it takes its time. */
async function nextServer(keeper, pid) {
  for (;;) {
    const server = serverOf(keeper);
    if (server !== null && server !== pid) return server;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The longest time without output around something. */
async function longestPause(events, act) {
  await events.next();
  const acting = act();
  let [before, longest] = [performance.now(), 0];
  let isDone = false;
  const done = acting.then(() => {
    isDone = true;
  });
  for (let left = LINES_AFTER; left > 0; ) {
    await events.next();
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
    if (isDone) left -= 1;
  }
  await done;
  return longest;
}

/** Connects again and again. Rejects if that fails. */
async function newcomers(url, over) {
  while (!over.aborted) {
    const { client } = await dialWire(url);
    await client.handshake();
    client.close();
    await new Promise((resolve) => setTimeout(resolve, NEWCOMER_MS));
  }
}

function privateMb(pid) {
  const sums = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+) kB$/gm);
  return ([...sums].reduce((total, [, kb]) => total + Number(kb), 0) * 1024) / 1e6;
}
