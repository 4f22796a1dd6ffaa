import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialWebSocket, RemoteEnvironment } from '../../dist/client/index.js';
import { startSshServer } from '../../examples/stdio-over-ssh/ssh-server.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { REAL } from './place.mjs';

const ECHOES = 400;
const OUTPUT_BYTES = 64 * 1024 * 1024;
const ROUNDS = 3;

/** One machine, reached in several ways: echo and output, against a direct WebSocket in the same run. */
export async function compareWays(place) {
  const [near, far] = await Promise.all([place.client(0), place.client(1)]);
  const gateway = await place.gateway(1);
  const ssh = await openSsh();
  const ways = [
    { name: 'direct', ...over(() => dialWebSocket(place.real.url)) },
    { name: 'sameNode', ...over(() => near.dial(REAL)) },
    { name: 'otherNode', ...over(() => far.dial(REAL)) },
    { name: 'gateway', ...over(() => dialWebSocket(`${gateway.url}/e/${REAL}`)) },
    { name: 'ssh', ...ssh },
  ];
  const runs = await interleave(ways, { rounds: ROUNDS, warmUp: true }, async (way) => ({
    echoMs: await way.echo(),
    mbPerSecond: await way.output(),
  }));
  await Promise.all([near.close(), far.close(), gateway.stop(), ssh.stop()]);
  const of = (name, key) => median(runs.get(name).map((run) => run[key]));
  return Object.fromEntries(
    ways.map(({ name }) => [
      name,
      {
        echoMs: rounded(of(name, 'echoMs')),
        echoRatio: rounded(of(name, 'echoMs') / of('direct', 'echoMs')),
        mbPerSecond: rounded(of(name, 'mbPerSecond')),
        outputRatio: rounded(of(name, 'mbPerSecond') / of('direct', 'mbPerSecond')),
      },
    ]),
  );
}

function over(dial) {
  const using = async (work) => {
    const environment = await RemoteEnvironment.connect({ id: 'way', dial, resume: true });
    try {
      return await work(environment);
    } finally {
      await environment.close();
    }
  };
  return { echo: () => using(echo), output: () => using(output) };
}

/** The median time from a line written to `cat` until it is back. */
async function echo(environment) {
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const events = cat.events()[Symbol.asyncIterator]();
  const times = [];
  for (let index = 0; index < ECHOES; index += 1) {
    const begun = performance.now();
    await cat.write(Buffer.from('x\n'));
    await events.next();
    times.push(performance.now() - begun);
  }
  await cat.closeStdin();
  return median(times);
}

async function output(environment) {
  const begun = performance.now();
  const child = await environment.start({ argv: ['head', '-c', String(OUTPUT_BYTES), '/dev/zero'] });
  let bytes = 0;
  for await (const event of child.events()) if (event.type === 'output') bytes += event.bytes.length;
  return rate(bytes, begun);
}

function rate(bytes, begun) {
  if (bytes !== OUTPUT_BYTES) throw new Error(`${bytes} bytes instead of ${OUTPUT_BYTES}`);
  return bytes / 1000 / (performance.now() - begun);
}

/** The same through a connection of ssh that is open already. */
async function openSsh() {
  const folder = mkdtempSync(join(tmpdir(), 'execwire-bench-ssh-'));
  const server = await startSshServer(folder, { start: spawnTracked });
  const shared = ['-o', `ControlPath=${join(folder, 'master')}`];
  const start = (...argv) =>
    spawnTracked(['ssh', ...shared, ...server.clientArgs, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  const master = spawnTracked(['ssh', '-M', ...shared, ...server.clientArgs, 'echo ready; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(master.stdout, 'data');
  return {
    echo: async () => {
      const cat = start('cat');
      cat.stdout.setEncoding('utf8');
      const times = [];
      for (let index = 0; index < ECHOES; index += 1) {
        const begun = performance.now();
        cat.stdin.write('x\n');
        await once(cat.stdout, 'data');
        times.push(performance.now() - begun);
      }
      await endChild(cat);
      return median(times);
    },
    output: async () => {
      const begun = performance.now();
      const head = start(`head -c ${OUTPUT_BYTES} /dev/zero`);
      let bytes = 0;
      for await (const part of head.stdout) bytes += part.length;
      return rate(bytes, begun);
    },
    stop: async () => {
      await endChild(master);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
