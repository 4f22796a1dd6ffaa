import { setTimeout as pause } from 'node:timers/promises';
import { fanOut } from '../../dist/fleet/index.js';
import { median, rounded, sum } from '../lib/stats.mjs';

const LOOKS = 9;
const IDLE_MS = 20_000;

/** What many machines cost while nobody does anything. */
export async function measureIdle(place) {
  const before = place.usage();
  await pause(IDLE_MS);
  const after = place.usage();
  const count = place.machines.names.length;
  return {
    nodeMb: rounded(Math.max(...after.mb)),
    nodesCpuPercent: rounded(((after.cpuSeconds - before.cpuSeconds) / (IDLE_MS / 1000)) * 100),
    serverKbPerMachine: rounded(((sum(after.mb) - place.emptyMb) * 1000) / count),
    machineKb: rounded(place.machines.bytesPerMachine / 1000),
    joinMs: rounded(place.machines.joinMs),
  };
}

/** Finding machines, and running something on all of them. */
export async function measureDiscovery(place) {
  const fleet = await place.client();
  const all = place.machines.names.length + 1;
  const whole = (machines) => {
    if (machines.length !== all) throw new Error(`${machines.length} machines of ${all}`);
  };
  const report = {
    listMs: await medianOf(async () => whole(await fleet.list())),
    registryMs: await medianOf(async () => whole(await fleet.listRegistered())),
    unknownMs: await medianOf(() =>
      fleet.dial('nobody').then(
        () => Promise.reject(new Error('somebody answered')),
        () => undefined,
      ),
    ),
  };
  for (const size of [10, 100, place.machines.names.length])
    report[`fanOut${size}Ms`] = await timed(() => echoOn(fleet, place.machines.names.slice(0, size)));
  await fleet.close();
  return report;
}

async function echoOn(fleet, names) {
  let ended = 0;
  for await (const event of fanOut(fleet, names, { run: { argv: ['echo', 'hi'] } })) {
    if (event.type === 'failed') throw event.error;
    if (event.type === 'ended' && event.end.kind === 'exited') ended += 1;
  }
  if (ended !== names.length) throw new Error(`${ended} of ${names.length} ended`);
}

async function medianOf(work) {
  await work();
  const times = [];
  for (let index = 0; index < LOOKS; index += 1) times.push(await timed(work));
  return rounded(median(times));
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return rounded(performance.now() - begun);
}
