import { sourceFile, uri } from '../lib/files.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const filesSmall = {
  name: 'files-small',
  title: 'Reading small files',
  about: '`fs/readFile` of 1 KiB until its answer, one after the other',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'node:fs',
  run: ({ servers, plan, scratch }) =>
    withServers(servers, async (opened) => {
      const path = sourceFile(scratch, 1024);
      const node = openNodeSampler({ name: 'node:fs', script: 'node-read.mjs', args: [path] });
      try {
        const subjects = opened.map((server) => reader(server, uri(path)));
        return await measureLatency([...subjects, node], plan.latency);
      } finally {
        await node.stop();
      }
    }),
};

function reader({ name, client }, path) {
  const readOnce = async () => {
    const begun = performance.now();
    await client.request('fs/readFile', { path });
    return performance.now() - begun;
  };
  return { name, sample: (limits) => repeat(limits, readOnce) };
}
