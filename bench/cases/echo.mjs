import { openEcho } from '../lib/echo.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const echo = {
  name: 'echo',
  title: 'Echo',
  about: '`process/write` of 6 bytes to `cat` until its `process/output` arrives',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'Node child_process',
  run: ({ servers, plan }) =>
    withServers(servers, async (opened) => {
      const node = openNodeSampler({ name: 'Node child_process', script: 'node-echo.mjs' });
      try {
        return await measureLatency([...(await Promise.all(opened.map(echoSubject))), node], plan.latency);
      } finally {
        await node.stop();
      }
    }),
};

async function echoSubject({ name, client }) {
  const echoOnce = await openEcho(client);
  return { name, sample: (limits) => repeat(limits, echoOnce) };
}
