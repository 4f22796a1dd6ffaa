import { join } from 'node:path';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { withClient, withOwnServer } from '../lib/own-server.mjs';
import { runToClose } from '../lib/processes.mjs';
import { repeat } from '../lib/stats.mjs';

const SUBJECTS = [
  { name: 'in memory', start: {} },
  { name: 'on disk', start: { retain: 'disk' } },
];

export const spoolStart = {
  name: 'spool-start',
  title: 'A start whose output is kept on disk',
  about: '`/bin/true` from the request to start it until its end is known, with and without `retain: "disk"`',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'in memory',
  run: ({ plan, scratch }) =>
    withOwnServer(['--spool', join(scratch, 'spool-start')], (server) =>
      withClient(server, (client) =>
        measureLatency(
          SUBJECTS.map(({ name, start }) => ({
            name,
            sample: (limits) => repeat(limits, () => runToClose(client, ['/bin/true'], start)),
          })),
          plan.latency,
        ),
      ),
    ),
};
