import { openForwarder } from '../lib/forwarder.mjs';
import { binaryFramesSubject, withServers } from '../lib/servers.mjs';
import { bareMover, measureThroughput, serverMover, throughputMetrics } from '../lib/throughput.mjs';

export const pipes = {
  name: 'pipes',
  title: 'Output on pipes',
  about: '`head -c N /dev/zero`, from start until every byte has arrived',
  metrics: throughputMetrics,
  headline: 'mbPerSecond',
  baseline: 'Node child_process',
  run: ({ servers, plan }) =>
    withServers([...servers, binaryFramesSubject(servers)], async (opened) => {
      const { byteCount } = plan.pipes;
      const argv = ['head', '-c', String(byteCount), '/dev/zero'];
      const movers = opened.map((server) => serverMover(server, { argv, byteCount, tty: false }));
      const forwarder = await openForwarder({ name: 'Node stdout.pipe(socket)', argv, byteCount });
      const reader = bareMover({ name: 'Node child_process', argv, byteCount });
      try {
        return await measureThroughput([...movers, forwarder, reader], plan.pipes);
      } finally {
        await forwarder.stop();
      }
    }),
};
