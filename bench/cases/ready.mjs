import { once } from 'node:events';
import { spawnTracked } from '../lib/children.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { openServer } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const ready = {
  name: 'ready',
  title: 'Start of the server',
  about: 'From spawning it until it prints its URL (ws) or has answered `initialize` (stdio)',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'node -e 0',
  run: ({ servers, plan }) => {
    const subjects = servers.map((subject) => ({
      name: subject.name,
      sample: (limits) => repeat(limits, () => becomeReady(subject)),
    }));
    subjects.push({ name: 'node -e 0', sample: (limits) => repeat(limits, runEmptyNode) });
    return measureLatency(subjects, plan.ready);
  },
};

async function becomeReady(subject) {
  const server = await openServer(subject);
  await server.stop();
  return server.readyMs;
}

export async function runEmptyNode() {
  const begun = performance.now();
  await once(spawnTracked([process.execPath, '-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - begun;
}
