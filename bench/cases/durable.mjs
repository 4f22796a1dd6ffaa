import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { touchPageCache } from '../lib/page-cache.mjs';
import { startParams } from '../lib/processes.mjs';
import { binaryFramesSubject, openServer, withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';
import { textFile } from '../lib/text-file.mjs';
import { measureThroughput, serverMover, throughputMetrics } from '../lib/throughput.mjs';
import { openEnvironment } from '../../dist/index.js';
import { signalOne } from '../../testkit/signal-one.mjs';

/** A line every 10 ms: a pause of the server is far longer. */
const TICKS = ['/bin/sh', '-c', 'while sleep 0.01; do echo; done'];
/** A keeper gives up on a server that dies too often. */
const DEATHS = { rounds: 1, count: 10, budgetMs: 30_000 };
/** Twice what is on disk of a process for the next server. */
const PASSING_BYTES = 64 * 1024 * 1024;
/** Lines after a death, by which the pause is over. */
const LINES_AFTER = 30;

/** The same server with a keeper. */
function durable(subject, scratch, place) {
  const argv = [...subject.argv, '--durable', join(scratch, `durable-${place}`)];
  return { ...subject, name: `${subject.name} durable`, argv };
}

export const durableStart = {
  name: 'durable-start',
  title: 'Starting a program that may outlive its server',
  about: '`/bin/true`, from the request to the answer, with and without `--durable`',
  metrics: latencyMetrics,
  headline: 'p50',
  run: ({ servers, plan, scratch }) => {
    const plain = servers.find(({ name }) => name === 'execwire ws');
    return withServers([plain, durable(plain, scratch, 'start')], (opened) =>
      measureLatency(
        opened.map(({ name, client }) => ({
          name,
          sample: (limits) => repeat(limits, () => startOnly(client)),
        })),
        plan.latency,
      ),
    );
  },
};

async function startOnly(client) {
  const params = startParams(['/bin/true']);
  const closing = client.closing(params.processId);
  const begun = performance.now();
  await client.request('process/start', params);
  const taken = performance.now() - begun;
  await closing;
  return taken;
}

export const durableOutput = {
  name: 'durable-output',
  title: 'Output that outlives its server',
  about:
    '`head -c N` of a file of text, with and without `--durable`, from start until every byte has arrived',
  metrics: throughputMetrics,
  headline: 'mbPerSecond',
  run: ({ servers, plan, scratch }) => {
    const plain = servers.find(({ name }) => name === 'execwire ws');
    const binary = binaryFramesSubject(servers);
    const subjects = [
      plain,
      durable(plain, scratch, 'output'),
      binary,
      durable(binary, scratch, 'binary-output'),
    ];
    return withServers(subjects, async (all) => {
      const opened = all.map((server) => ({ ...server, pid: serverOf(server.pid) ?? server.pid }));
      const file = textFile(scratch, Math.max(plan.pipes.byteCount, plan.pty.byteCount));
      const movers = (some, byteCount, tty) =>
        some.map((server) =>
          serverMover(server, { argv: ['head', '-c', String(byteCount), file], byteCount, tty }),
        );
      const touch = () => touchPageCache(scratch, PASSING_BYTES);
      const terminals = opened.slice(0, 2).map((server) => ({ ...server, name: `${server.name}, terminal` }));
      return [
        ...(await measureThroughput(movers(opened, plan.pipes.byteCount, false), plan.pipes, touch)),
        ...(await measureThroughput(movers(terminals, plan.pty.byteCount, true), plan.pty, touch)),
      ];
    });
  },
};

export const durableDeath = {
  name: 'durable-death',
  title: 'The death of a server',
  about: 'from `kill -9` of the server until the next byte of a running program arrives',
  metrics: latencyMetrics,
  headline: 'p50',
  run: async ({ servers, scratch }) => {
    const subject = durable(
      servers.find(({ name }) => name === 'execwire ws'),
      scratch,
      'death',
    );
    const server = await openServer(subject);
    const environment = await openEnvironment(server.url);
    try {
      const program = await environment.start({ argv: TICKS, cwd: '/' });
      const events = program.events();
      const sample = (limits) => repeat(limits, () => pauseOf(server.pid, events));
      return await measureLatency([{ name: subject.name, sample }], DEATHS);
    } finally {
      await environment[Symbol.asyncDispose]();
      await server.stop();
    }
  },
};

/** Kills the server, and returns the longest time without output around that. */
async function pauseOf(keeper, events) {
  await events.next();
  const server = serverOf(keeper);
  if (server === null) throw new Error('the keeper has no server');
  signalOne(server, 'SIGKILL');
  let [before, longest] = [performance.now(), 0];
  for (let line = 0; line < LINES_AFTER; line += 1) {
    await events.next();
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  }
  return longest;
}

/** The server of a keeper; null for a server without one. */
function serverOf(keeper) {
  const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'utf8').split(' ').filter(Boolean);
  const server = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--durable'));
  return server === undefined ? null : Number(server);
}
