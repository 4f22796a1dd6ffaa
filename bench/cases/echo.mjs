import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { startParams } from '../lib/processes.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';
import { withServers } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

const TYPED = Buffer.from('hello\n');

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
  const params = startParams(['cat'], { pipeStdin: true });
  await client.request('process/start', params);
  let writes = 0;
  const echoOnce = async () => {
    const { processId } = params;
    const write = { processId, chunk: TYPED.toString('base64'), writeId: String(++writes) };
    const begun = performance.now();
    const arrived = client.output(TYPED.length).then(() => performance.now());
    const [at] = await Promise.all([arrived, client.request('process/write', write)]);
    return at - begun;
  };
  return { name, sample: (limits) => repeat(limits, echoOnce) };
}
