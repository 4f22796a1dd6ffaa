import { compileBare } from '../lib/compiler.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { runToClose } from '../lib/processes.mjs';
import { openNodeSampler, openSampler } from '../lib/sampler.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const start = {
  name: 'start',
  title: 'Start to closed',
  about: '`/bin/true` from the request to start it until exit and end of output are known',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'C posix_spawn',
  run: ({ servers, plan, scratch }) =>
    withServers(servers, async (opened) => {
      const samplers = openSamplers(scratch);
      try {
        return await measureLatency([...opened.map(startSubject), ...samplers], plan.latency);
      } finally {
        await Promise.all(samplers.map((sampler) => sampler.stop()));
      }
    }),
};

function startSubject({ name, client }) {
  return { name, sample: (limits) => repeat(limits, () => runToClose(client, ['/bin/true'])) };
}

function openSamplers(scratch) {
  const samplers = [
    openNodeSampler({ name: 'execwire in process', script: 'local-spawn.mjs' }),
    openNodeSampler({ name: 'Node child_process', script: 'node-spawn.mjs' }),
  ];
  const program = compileBare('spawn', scratch);
  if (program !== null) samplers.push(openSampler({ name: 'C posix_spawn', argv: [program] }));
  return samplers;
}
