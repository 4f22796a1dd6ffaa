import { once } from 'node:events';
import { bin } from '../../testkit/launch.mjs';
import { spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { cpuTimes } from '../lib/procfs.mjs';
import { median, sum } from '../lib/stats.mjs';
import { analyse, POLL } from './areas.mjs';
import { OFTEN_US, profiledEnvironment, withProfile } from './profiled.mjs';
import { countCallsIn } from './system-calls.mjs';

const ROUNDS = { full: 15, short: 2 };
const PROFILES = { full: 9, short: 1 };

const node = process.execPath;
const run = [bin, 'run', '-e', 'local', '--', 'true'];
const subjects = [
  { name: 'execwire run -- true', argv: [node, ...run] },
  { name: 'node -e 0', argv: [node, '-e', '0'] },
];

/** Profiles the start of the command line: what happens between Node being there and the end of `execwire run -- true`. */
export async function profileStart(spec, context) {
  const size = context.short ? 'short' : 'full';
  const runs = await interleave(subjects, { rounds: ROUNDS[size], warmUp: true }, ({ argv }) => timed(argv));
  const summary = [...runs].map(sayTimes).join('; ');
  const profiles = [];
  while (profiles.length < PROFILES[size]) profiles.push(await profileOnce(context));
  const calls = context.syscalls ? await countCallsIn([node, ...run], context.scratch) : null;
  return { about: spec.about, summary, unit: { name: 'start', amount: 1 }, ...fastest(profiles), calls };
}

/** Milliseconds it took, and those of CPU that it and all it started used. */
async function timed(argv) {
  const begun = performance.now();
  const before = childCpuMs();
  const child = spawnTracked(argv, { stdio: 'ignore', env: profiledEnvironment() });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`it ended with ${code}`);
  return { wallMs: performance.now() - begun, cpuMs: childCpuMs() - before };
}

function childCpuMs() {
  const { user, system } = cpuTimes(process.pid).children;
  return (user + system) * 1000;
}

/** CPU comes in ticks of 10 ms: the mean of many says more than one in the middle. */
function sayTimes([name, times]) {
  const wallMs = Math.round(median(times.map((each) => each.wallMs)));
  const cpuMs = Math.round(sum(times.map((each) => each.cpuMs)) / times.length);
  return `\`${name}\` ${wallMs} ms, ${cpuMs} ms of CPU`;
}

async function profileOnce({ originOf }) {
  const { profile } = await withProfile(OFTEN_US, (flags) => timed([node, ...flags, ...run]));
  const { areas, functions } = analyse(profile, { originOf });
  return {
    areas: areas.filter(({ area }) => area !== POLL),
    functions,
    sleptMs: areas.find(({ area }) => area === POLL)?.ms ?? 0,
    wallMs: (profile.endTime - profile.startTime) / 1000,
  };
}

/** Of several starts the one others disturbed least. */
function fastest(profiles) {
  const busyMs = ({ areas }) => sum(areas.map(({ ms }) => ms));
  return profiles.sort((a, b) => busyMs(a) - busyMs(b))[0];
}
