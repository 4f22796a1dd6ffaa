import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const status = {
  name: 'status',
  title: 'Round trip',
  about: '`environment/status` until its answer: what the wire costs when nothing is done',
  metrics: latencyMetrics,
  headline: 'p50',
  run: ({ servers, plan }) =>
    withServers(servers, (opened) => measureLatency(opened.map(statusSubject), plan.latency)),
};

function statusSubject({ name, client }) {
  const askOnce = async () => {
    const begun = performance.now();
    await client.request('environment/status');
    return performance.now() - begun;
  };
  return { name, sample: (limits) => repeat(limits, askOnce) };
}
