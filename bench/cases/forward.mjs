import { once } from 'node:events';
import { connect } from 'node:net';
import { firstLine } from '../../testkit/launch.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { withOwnServer } from '../lib/own-server.mjs';
import { openWays } from '../lib/port-ways.mjs';
import { requireAll } from '../lib/processes.mjs';
import { bareSource } from '../lib/sampler.mjs';
import { median, rounded } from '../lib/stats.mjs';

const STREAMS = 500;
const BLOCK = Buffer.alloc(256 * 1024, 'x');

export const forward = {
  name: 'forward',
  title: 'Ports of another machine',
  about: `a port behind \`execwire forward\`, behind \`ssh -L\` and on its own: bytes to the client and from it, one byte there and back on an open connection, a new connection for one byte, and ${STREAMS} connections at once with 1 KiB there and back each`,
  metrics: [
    { key: 'mbPerSecond', label: 'MB/s' },
    { key: 'uploadMbPerSecond', label: 'upload MB/s' },
    { key: 'echoMs', label: 'echo ms' },
    { key: 'connectMs', label: 'connect ms' },
    { key: 'crowdMs', label: `${STREAMS} at once ms` },
    { key: 'crowdLost', label: 'of them broken' },
  ],
  headline: 'mbPerSecond',
  baseline: 'ssh -L',
  run: async ({ plan }) => {
    const { rounds, byteCount, count } = plan.forward;
    const source = spawnTracked([process.execPath, bareSource('port-source.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const target = Number(await firstLine(source));
      return await withOwnServer([], async ({ url }) => {
        const ways = await openWays(target, url);
        const runs = await interleave(ways, { rounds, warmUp: true }, (way) =>
          visit(way, { byteCount, count }),
        );
        await Promise.all(ways.map((way) => way.stop()));
        requireAll(STREAMS - medians(runs.get('execwire forward')).crowdLost, STREAMS);
        return ways.map(({ name }) => ({ subject: name, values: medians(runs.get(name)), samples: rounds }));
      });
    } finally {
      await endChild(source);
    }
  },
};

async function visit({ port }, { byteCount, count }) {
  return {
    mbPerSecond: byteCount / 1000 / (await timed(() => download(port, byteCount))),
    uploadMbPerSecond: byteCount / 1000 / (await timed(() => upload(port, byteCount))),
    echoMs: await echoes(port, count),
    connectMs: (await timed(() => connections(port, count))) / count,
    ...(await crowd(port)),
  };
}

/** Not every way has room for so many. */
async function crowd(port) {
  const begun = performance.now();
  const all = await Promise.allSettled(Array.from({ length: STREAMS }, () => exchange(port, 1024)));
  const crowdLost = all.filter(({ status }) => status === 'rejected').length;
  return { crowdMs: performance.now() - begun, crowdLost };
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function download(port, byteCount) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let arrived = 0;
  socket.on('data', (data) => {
    arrived += data.length;
  });
  socket.write(`send ${byteCount}\n`);
  await once(socket, 'end');
  requireAll(arrived, byteCount);
}

async function upload(port, byteCount) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const ended = once(socket.resume(), 'end');
  socket.write(`take ${byteCount}\n`);
  for (let left = byteCount; left > 0; left -= BLOCK.length) {
    const isRoom = socket.write(left < BLOCK.length ? BLOCK.subarray(0, left) : BLOCK);
    if (!isRoom) await once(socket, 'drain');
  }
  await ended;
  socket.end();
}

async function echoes(port, count) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.write('echo\n');
  const samples = [];
  for (let each = 0; each < count; each += 1) {
    const begun = performance.now();
    socket.write('x');
    await once(socket, 'data');
    samples.push(performance.now() - begun);
  }
  socket.destroy();
  return median(samples);
}

async function connections(port, count) {
  for (let each = 0; each < count; each += 1) await exchange(port, 1);
}

async function exchange(port, size) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.end(`echo\n${'y'.repeat(size)}`);
  let arrived = 0;
  socket.on('data', (data) => {
    arrived += data.length;
  });
  await once(socket, 'end');
  requireAll(arrived, size);
}

function medians(runs) {
  const keys = Object.keys(runs[0]);
  return Object.fromEntries(keys.map((key) => [key, rounded(median(runs.map((run) => run[key])))]));
}
