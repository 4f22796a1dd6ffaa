// Measures fleets on a real three-node NATS cluster on this machine, as ratios in one run.
//   node bench/fleet/run.mjs [--machines N]
import { parseArgs } from 'node:util';
import { dialWebSocket, RemoteEnvironment } from '../../dist/client/index.js';
import { fanOut, Fleet, FleetMember } from '../../dist/fleet/index.js';
import { Gateway } from '../../dist/fleet/gateway/index.js';
import { ExecServer, serve } from '../../dist/server/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';

const OUTPUT_BYTES = 64 * 1024 * 1024;
const ECHOES = 500;

const { values } = parseArgs({ options: { machines: { type: 'string', default: '1000' } } });
const count = Number(values.machines);

const cluster = await NatsCluster.start({ jetStream: false });
const settings = { servers: cluster.urls };
const report = { machines: count };

try {
  await compareTransports();
  await manyMachines();
} finally {
  await cluster.stop();
}
console.log(JSON.stringify(report, null, 2));
process.exit(0);

/** One machine, reached directly, over NATS on another node, and through a gateway: the same work in turn. */
async function compareTransports() {
  const direct = await serve();
  const [first, second] = cluster.urls;
  const join = { name: 'm', server: direct.server, insecure: true };
  const member = await FleetMember.join({ servers: [first] }, join);
  const fleet = await Fleet.connect({ servers: [second] });
  const gateway = await Gateway.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    settings: { servers: [second] },
  });
  const dials = {
    direct: () => dialWebSocket(direct.urls[0] ?? ''),
    fleet: () => fleet.dial(member.name),
    gateway: () => dialWebSocket(`${gateway.url}/e/m`),
  };
  const figures = { direct: {}, fleet: {}, gateway: {} };
  for (let round = 0; round < 3; round += 1) {
    for (const [name, dial] of Object.entries(dials)) {
      const environment = await RemoteEnvironment.connect({ id: name, dial, resume: true });
      keepBest(figures[name], 'echoMs', await echo(environment), Math.min);
      keepBest(figures[name], 'outputMBps', await output(environment), Math.max);
      await environment.close();
    }
  }
  for (const each of [gateway, fleet, member, direct]) await each.close();
  report.transports = figures;
  report.ratios = Object.fromEntries(
    ['fleet', 'gateway'].map((name) => [
      name,
      {
        echo: figures[name].echoMs / figures.direct.echoMs,
        output: figures[name].outputMBps / figures.direct.outputMBps,
      },
    ]),
  );
}

function keepBest(figures, key, value, better) {
  figures[key] = figures[key] === undefined ? value : better(figures[key], value);
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
  return times.sort((a, b) => a - b)[ECHOES / 2];
}

async function output(environment) {
  const begun = performance.now();
  const child = await environment.start({ argv: ['head', '-c', String(OUTPUT_BYTES), '/dev/zero'] });
  let bytes = 0;
  for await (const event of child.events()) if (event.type === 'output') bytes += event.bytes.length;
  if (bytes !== OUTPUT_BYTES) throw new Error(`${bytes} bytes instead of ${OUTPUT_BYTES}`);
  return bytes / 1000 / (performance.now() - begun);
}

/** Many machines in this process, each with a bus connection of its own; one server runs all of their programs. */
async function manyMachines() {
  const server = new ExecServer({ maxSessions: count * 2 });
  const before = process.memoryUsage().rss;
  const begun = performance.now();
  const members = await inBatches(count, 50, (index) =>
    FleetMember.join(settings, { name: `m${index}`, server, insecure: true }),
  );
  report.joinAllMs = performance.now() - begun;
  report.bytesPerMachine = Math.round((process.memoryUsage().rss - before) / count);
  const fleet = await Fleet.connect(settings);
  report.listMs = await best(5, async () => {
    const listed = await fleet.list();
    if (listed.length !== count) throw new Error(`${listed.length} machines of ${count} answered`);
  });
  report.unknownMachineMs = await best(5, () => fleet.dial('nobody').catch(() => undefined));
  report.fanOutMs = {};
  for (const size of [10, 100, count]) {
    const names = members.slice(0, size).map(({ name }) => name);
    report.fanOutMs[size] = await best(1, () => echoOn(fleet, names));
  }
  for (const member of members) void member.close();
  await fleet.close();
  await server.close();
}

async function echoOn(fleet, names) {
  let ended = 0;
  for await (const event of fanOut(fleet, names, { run: { argv: ['echo', 'hi'] } })) {
    if (event.type === 'failed') throw event.error;
    if (event.type === 'ended') ended += 1;
  }
  if (ended !== names.length) throw new Error(`${ended} of ${names.length} ended`);
}

async function best(times, work) {
  let shortest = Number.POSITIVE_INFINITY;
  for (let index = 0; index < times; index += 1) {
    const begun = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - begun);
  }
  return shortest;
}

async function inBatches(total, size, make) {
  const made = [];
  for (let from = 0; from < total; from += size)
    made.push(
      ...(await Promise.all(Array.from({ length: Math.min(size, total - from) }, (_, i) => make(from + i)))),
    );
  return made;
}
