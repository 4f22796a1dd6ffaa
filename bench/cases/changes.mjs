import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';

export const heldStart = {
  name: 'held-start',
  title: 'Start to closed with held changes',
  about:
    '`/bin/true` in process, every 20 ms, under a policy for a writable workspace: as it is, as the first one of its environment, for ' +
    'which no sandbox waits, and with its changes held in one set',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'under a policy',
  run: ({ plan }) =>
    measure(plan.latency, 'confined.mjs', {
      'under a policy': 'start-confined',
      'the first under it': 'start-first-confined',
      held: 'start-held',
    }),
};

export const heldRead = {
  name: 'held-read',
  title: 'Read of 1 KiB with held changes',
  about: '`readFile` in process by the confined helper: as it is, and in the view of a set',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'under a policy',
  run: ({ plan }) =>
    measure(plan.latency, 'confined.mjs', { 'under a policy': 'read-confined', held: 'read-held' }),
};

export const heldList = {
  name: 'held-list',
  title: 'Listing held changes',
  about: '10 changes, in process, in a tree of 1,000 files and in one of 100,000',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'of 1,000 files',
  run: ({ plan }) =>
    measure(plan.latency, 'held.mjs', {
      'of 1,000 files': 'list-in-1000',
      'of 100,000 files': 'list-in-100000',
    }),
};

export const heldApply = {
  name: 'held-apply',
  title: 'Applying held changes',
  about:
    '10,000 small new files, in process, which are on disk afterwards: against `cp -a` of as many, with and without `sync -f`',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'cp -a',
  run: ({ plan }) =>
    measure(plan.heldApply, 'held.mjs', { 'cp -a': 'copy', 'cp -a and sync': 'copy-synced', apply: 'apply' }),
};

async function measure(limits, script, subjects) {
  const samplers = Object.entries(subjects).map(([name, what]) =>
    openNodeSampler({ name, script, args: [what] }),
  );
  try {
    return await measureLatency(samplers, limits);
  } finally {
    await Promise.all(samplers.map((sampler) => sampler.stop()));
  }
}
