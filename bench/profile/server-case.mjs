import { mainThreadTimes } from '../lib/procfs.mjs';
import { openServer, serverSubjects } from '../lib/servers.mjs';
import { sum } from '../lib/stats.mjs';
import { analyse, POLL } from './areas.mjs';
import { Consumption } from './consumption.mjs';
import { profileClock, SELDOM_US, withProfile } from './profiled.mjs';
import { sayThroughput } from './throughput.mjs';
import { countCallsOf } from './system-calls.mjs';

/** A profile is written at the end, and takes its time on a busy machine. */
const GRACE_MS = 60_000;
const ROUNDS = { full: 5, short: 1 };

/**
 * Profiles a server while a client works with it. Three servers one after the other: one nobody watches, whose CPU and
 * speed are counted, one under the profiler, and, if asked for, one whose system calls are.
 */
export async function profileServer(spec, context) {
  const { unit, consumption, summary } = await withCase(spec, context, countCpu);
  return {
    about: spec.about,
    summary,
    unit,
    consumption,
    bare: spec.bare ? await countBare(await spec.bare(context), context) : null,
    ...(await profileAreas(spec, context)),
    calls: context.syscalls ? await withCase(spec, context, countCalls) : null,
  };
}

/** Opens a server, warms it up with one round, and lets `work` go on from there. */
async function withCase(spec, context, work, flags = []) {
  const [subject] = serverSubjects({ codex: null, codexHome: '' });
  const [node, ...args] = subject.argv;
  const { capabilities } = spec;
  const server = await openServer({ ...subject, argv: [node, ...flags, ...args], capabilities });
  try {
    const prepared = await spec.prepare(server.client, context);
    const warmed = await (prepared.warmUp ?? prepared.once)();
    return await work(server, { ...context, ...prepared, warmed });
  } finally {
    await server.stop({ graceMs: GRACE_MS });
  }
}

async function countCpu(server, { once, unit, short, warmed, say = sayThroughput }) {
  const consumption = new Consumption({ server: server.pid, client: process.pid }, { programOf: 'server' });
  const rounds = [];
  while (rounds.length < (short ? ROUNDS.short : ROUNDS.full)) {
    rounds.push(await consumption.during(once, unit.amount));
  }
  return { unit, consumption, summary: say(rounds, { unit, warmed }) };
}

/** The same work done by the least there can be between program and client. */
async function countBare({ name, unit, subject }, { short }) {
  const consumption = new Consumption({ [name]: subject.pid, client: process.pid }, { programOf: name });
  const rounds = [];
  try {
    await subject.move();
    while (rounds.length < (short ? ROUNDS.short : ROUNDS.full)) {
      rounds.push((await consumption.during(subject.move, unit.amount)).seconds);
    }
  } finally {
    await subject.stop();
  }
  return { name, unit, consumption, summary: sayThroughput(rounds, { unit }) };
}

async function profileAreas(spec, context) {
  const { value, profile } = await withProfile(SELDOM_US, (flags) =>
    withCase(spec, context, measureWindows, flags),
  );
  const { windows, ...times } = value;
  return { ...times, ...countedAsCpu(analyse(profile, { originOf: context.originOf, windows }), times) };
}

/** When the work was done, on the clock of the profile, and what the main thread did meanwhile according to the kernel. */
async function measureWindows(server, { once, short }) {
  const windows = [];
  const before = mainThreadTimes(server.pid);
  while (windows.length < (short ? ROUNDS.short : ROUNDS.full)) {
    const begun = profileClock();
    await once();
    windows.push([begun, profileClock()]);
  }
  const after = mainThreadTimes(server.pid);
  const ranMs = after.ranMs - before.ranMs;
  const queuedMs = after.queuedMs - before.queuedMs;
  const wallMs = sum(windows.map(([begun, ended]) => ended - begun)) / 1000;
  return { windows, wallMs, ranMs, queuedMs, sleptMs: Math.max(0, wallMs - ranMs - queuedMs) };
}

/**
 * V8 calls all of libuv's poll idle, also while it reads, and counts on while others have the core. The kernel knows how
 * long the thread slept and ran: the first is taken from the poll, the second shared out.
 */
function countedAsCpu({ areas, functions }, { sleptMs, ranMs }) {
  const awake = areas.map(({ area, ms }) =>
    area === POLL
      ? { area: 'libuv: poll and reads, in the kernel', ms: Math.max(0, ms - sleptMs) }
      : { area, ms },
  );
  const scale = ranMs / Math.max(sum(awake.map(({ ms }) => ms)), Number.EPSILON);
  const scaled = (row) => ({ ...row, ms: row.ms * scale });
  return { areas: awake.map(scaled).sort((a, b) => b.ms - a.ms), functions: functions.map(scaled) };
}

async function countCalls(server, { once, scratch }) {
  return await countCallsOf(server.pid, scratch, once);
}
