import { measureLatency } from '../lib/latency.mjs';
import { openNodeSampler } from '../lib/sampler.mjs';
import { withListeningServer } from '../lib/servers.mjs';

const ACTIONS = ['start', 'echo', 'read'];
const LOCAL = 'execwire in process';

/** The same three calls on both kinds of environment: what the wire and the client add. */
export const remote = {
  name: 'remote',
  title: 'Another machine, the same calls',
  about:
    'p50 of `/bin/true` from start to closed, 6 bytes through `cat`, and a file of 1 KiB, as library users call them',
  metrics: ACTIONS.map((key) => ({ key, label: `${key} ms` })),
  headline: 'start',
  baseline: LOCAL,
  run: ({ servers, plan }) =>
    withListeningServer(servers, async (url) => {
      const places = { 'execwire client ws': url, [LOCAL]: 'local' };
      const samplers = Object.entries(places).flatMap(([subject, where]) =>
        ACTIONS.map((action) => openEnvironmentSampler({ subject, action, where })),
      );
      try {
        const measured = await measureLatency(samplers, plan.latency);
        return Object.keys(places).map((subject) => rowOf(subject, measured));
      } finally {
        await Promise.all(samplers.map((sampler) => sampler.stop()));
      }
    }),
};

function openEnvironmentSampler({ subject, action, where }) {
  const name = nameOf(subject, action);
  return openNodeSampler({ name, script: 'environment.mjs', args: [action, where] });
}

function rowOf(subject, measured) {
  const of = (action) => measured.find((row) => row.subject === nameOf(subject, action));
  const values = Object.fromEntries(ACTIONS.map((action) => [action, of(action).values.p50]));
  return { subject, values, samples: of('start').samples };
}

function nameOf(subject, action) {
  return `${subject}: ${action}`;
}
