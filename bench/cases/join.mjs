import { withClient, withOwnServer } from '../lib/own-server.mjs';
import { startParams } from '../lib/processes.mjs';
import { percentile, rounded } from '../lib/stats.mjs';

/** As `vim` or `top` leave it: the other buffer, a scroll region, every line in colours. */
const ROWS = 50;
const COLS = 160;
const DRAW = `i=1; printf '\\033[?1049h\\033[2J\\033[1;${ROWS - 1}r'; while [ $i -le ${ROWS} ]; do printf '\\033[%d;1H\\033[3%dm%-${COLS}s\\033[0m' $i $((i % 7 + 1)) "line $i of a program that has all of the screen"; i=$((i + 1)); done; printf drawn; exec sleep 1000`;

export const join = {
  name: 'join',
  title: 'Joining a full-screen program',
  about: `\`process/attach\` of a program that has drawn ${ROWS} x ${COLS} cells until the answer, by clients that have just connected`,
  metrics: [
    { key: 'p50', label: 'p50 ms' },
    { key: 'p99', label: 'p99 ms' },
  ],
  headline: 'p50',
  baseline: 'start of the server',
  run: async ({ plan }) => {
    const { rounds, count } = plan.join;
    const found = { ready: [], first: [], more: [], tail: [] };
    for (let round = 0; round < rounds; round += 1)
      await withOwnServer([], (server) => visit(server, count, found));
    const rows = [
      ['start of the server', found.ready],
      ['first screen of a server', found.first],
      ['screen', found.more],
      ['last output, no screen', found.tail],
    ];
    return rows.map(([subject, samples]) => ({
      subject,
      values: { p50: rounded(percentile(samples, 0.5)), p99: rounded(percentile(samples, 0.99)) },
      samples: samples.length,
    }));
  },
};

async function visit(server, count, found) {
  await withClient(server, async (client) => {
    const size = { rows: ROWS, cols: COLS };
    const params = startParams(['/bin/sh', '-c', DRAW], { tty: true, size, lease: 'kept' });
    const drawn = client.output(ROWS * COLS);
    await Promise.all([client.request('process/start', params), drawn]);
    const join = (wanted) => withClient(server, (viewer) => attached(viewer, params.processId, wanted));
    found.ready.push(server.readyMs);
    found.first.push(await join({ screen: true }));
    for (let each = 0; each < count; each += 1) {
      found.tail.push(await join({ tail: { bytes: 65_536 } }));
      found.more.push(await join({ screen: true }));
    }
  });
}

async function attached(client, processId, wanted) {
  const begun = performance.now();
  const { screen } = await client.request('process/attach', { processId, keyboard: 'view', ...wanted });
  const ms = performance.now() - begun;
  if (wanted.screen && !screen?.alternate) throw new Error('this is not the screen');
  return ms;
}
