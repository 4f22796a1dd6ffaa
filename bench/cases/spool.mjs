import { join } from 'node:path';
import { bareRelays } from '../lib/bare-relay.mjs';
import { binaryFramesSubject, withServers } from '../lib/servers.mjs';
import { touchPageCache } from '../lib/page-cache.mjs';
import { textFile } from '../lib/text-file.mjs';
import { measureThroughput, serverMover, throughputMetrics } from '../lib/throughput.mjs';

/** At most, of each process. */
const KEPT_BYTES = 256 * 1024 * 1024;
const SPARE_BYTES = 32 * 1024 * 1024;

/** What becomes of the output besides being sent. */
const USES = [
  { suffix: '', start: {} },
  { suffix: ', on disk', start: { retain: 'disk' } },
];

export const spool = {
  name: 'spool',
  title: 'Output that is kept on disk',
  about:
    '`head -c N` of a file of text, with and without `retain: "disk"`, from start until every byte has arrived',
  metrics: throughputMetrics,
  headline: 'mbPerSecond',
  run: ({ servers, plan, scratch }) => {
    const plain = servers.find(({ name }) => name === 'execwire ws');
    const subjects = [plain, binaryFramesSubject(servers)].map((subject) => ({
      ...subject,
      argv: [...subject.argv, '--spool', join(scratch, 'spool')],
    }));
    return withServers(subjects, async (opened) => {
      const [json] = opened;
      const file = textFile(scratch, Math.max(plan.spool.byteCount, plan.pty.byteCount));
      const pipes = movers(opened, { file, byteCount: plan.spool.byteCount, tty: false });
      const { byteCount } = plan.spool;
      const bare = bareRelays({ scratch, argv: argvFor(file, byteCount), byteCount, keptBytes: KEPT_BYTES });
      const terminal = { ...json, name: 'terminal' };
      const terminals = movers([terminal], { file, byteCount: plan.pty.byteCount, tty: true });
      return [
        ...(await measureThroughput([...pipes, ...bare], plan.spool, () => touchFor(scratch, plan.spool))),
        ...(await measureThroughput(terminals, plan.pty, () => touchFor(scratch, plan.pty))),
      ];
    });
  },
};

/** Pages for what one process leaves on disk, and some for its sockets. */
function touchFor(scratch, { byteCount }) {
  touchPageCache(scratch, Math.min(byteCount, KEPT_BYTES) + SPARE_BYTES);
}

function movers(servers, { file, byteCount, tty }) {
  const argv = argvFor(file, byteCount);
  return servers.flatMap((server) =>
    USES.map(({ suffix, start }) =>
      serverMover({ ...server, name: `${server.name}${suffix}` }, { argv, byteCount, tty, start }),
    ),
  );
}

function argvFor(file, byteCount) {
  return ['head', '-c', String(byteCount), file];
}
