import { durable, serverOf } from '../lib/durable.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { touchPageCache } from '../lib/page-cache.mjs';
import { startParams } from '../lib/processes.mjs';
import { binaryFramesSubject, withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';
import { textFile } from '../lib/text-file.mjs';
import { measureThroughput, serverMover, throughputMetrics } from '../lib/throughput.mjs';

/** More than is on disk of a process for the next server. */
const PASSING_BYTES = 64 * 1024 * 1024;

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
