import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { bareSource, openSampler } from '../lib/sampler.mjs';

export const sandboxStart = {
  name: 'sandbox-start',
  title: 'Start to closed under a policy',
  about:
    '`/bin/true` in process, every 20 ms: as it is, in a bubblewrap somebody typed (the same namespaces and root, no ' +
    'filter, no protected names), and under our policy for a writable workspace without network; last, as the first ' +
    'one of its environment, for which no sandbox waits',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'bwrap by hand',
  run: ({ plan }) =>
    measure(plan, {
      'no policy': 'start',
      'bwrap by hand': 'start-by-hand',
      'under a policy': 'start-confined',
      'the first under it': 'start-first-confined',
    }),
};

export const networkStart = {
  name: 'network-start',
  title: 'Start to closed with rules for hosts',
  about:
    '`/bin/true` in process, every 20 ms, under a policy for a writable workspace: without network, and with a network of its ' +
    'own whose only way out is our proxy',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'no network',
  run: ({ plan }) => measure(plan, { 'no network': 'start-confined', 'rules for hosts': 'start-managed' }),
};

export const sandboxRead = {
  name: 'sandbox-read',
  title: 'Read of 1 KiB under a policy',
  about: '`readFile` in process: as it is, and done by the warm helper that the policy confines',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'no policy',
  run: ({ plan }) => measure(plan, { 'no policy': 'read', 'under a policy': 'read-confined' }),
};

async function measure(plan, subjects) {
  const samplers = Object.entries(subjects).map(([name, what]) =>
    openSampler({ name, argv: [process.execPath, bareSource('confined.mjs'), what] }),
  );
  try {
    return await measureLatency(samplers, plan.latency);
  } finally {
    await Promise.all(samplers.map((sampler) => sampler.stop()));
  }
}
