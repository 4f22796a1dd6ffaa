// Keeps a real server busy with a bit of everything and watches what it holds meanwhile.
//   node test/soak/run.mjs [--seconds 600] [--out DIRECTORY]
// Exits with 1 when memory or anything else shows a trend, when something is left at the end, or when an answer was wrong.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeLastingFolder } from '../../testkit/lasting-folder.mjs';
import { pidsWithMark, settles, Subject } from '../chaos/subject.mjs';
import { activities } from './activities.mjs';
import { plot } from './plot.mjs';
import { reportText } from './report.mjs';
import { METRICS, trendOf } from './trend.mjs';
import { work } from './worker.mjs';

/** Enough for a smooth line and for medians, however long the run. */
const SAMPLES = 240;
/** Output of ended processes waits half a minute for late readers; little of it, so that a short run is level, too. */
const RETAIN_BYTES = 16 * 1024;
const LEAST_INTERVAL_MS = 250;
/** Leases end, trees die, sockets close. */
const SETTLE_LIMIT_MS = 30_000;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, out: { type: 'string' } },
});
const seconds = Number(values.seconds);
const mark = `soak-${process.pid}-`;
const folder = makeLastingFolder('soak');
const problems = [];
const subject = await Subject.start({ ttlSeconds: 2, args: ['--retain-bytes', String(RETAIN_BYTES)] });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void abandon());

try {
  await runAll(2_000).catch((error) => problems.push(error.message));
  const idle = await subject.holdings();
  const samples = [];
  const sampling = sample(samples);
  const rounds = await runAll(seconds * 1000);
  await sampling;
  await leavesNothing(idle).catch((error) => problems.push(error.message));
  report({ samples, rounds });
} finally {
  await subject.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Everything beside everything for a while. Resolves to how often each was done. */
async function runAll(forMs) {
  const until = Date.now() + forMs;
  const over = () => Date.now() >= until || subject.died !== undefined || problems.length > 0;
  const place = mkdtempSync(join(folder, 'run-'));
  const all = Object.entries(activities).map(async ([name, activity]) => {
    const options = { activity, url: subject.url, folder: place, mark, over };
    const count = await work(name, options).catch((error) => void problems.push(error.message));
    return [name, count ?? 0];
  });
  const rounds = Object.fromEntries(await Promise.all(all));
  if (subject.died) problems.push(subject.died);
  return rounds;
}

async function sample(samples) {
  const begun = Date.now();
  const intervalMs = Math.max(LEAST_INTERVAL_MS, (seconds * 1000) / SAMPLES);
  while (Date.now() - begun < seconds * 1000 && problems.length === 0) {
    samples.push({ seconds: (Date.now() - begun) / 1000, ...(await subject.holdings()) });
    await pause(intervalMs);
  }
}

/** Nothing of the load runs, and the server holds no more than before. */
async function leavesNothing(idle) {
  await settles('left at the end', SETTLE_LIMIT_MS, async () => {
    const pids = pidsWithMark(mark);
    if (pids.length > 0) return `processes ${pids.join(' ')}`;
    const now = await subject.holdings();
    const more = ['descriptors', 'children', 'timers'].filter((name) => now[name] > idle[name]);
    return more.length === 0 ? undefined : `${more.join(', ')}: ${JSON.stringify({ now, idle })}`;
  });
}

function report({ samples, rounds }) {
  const trends = METRICS.map((metric) => ({ ...metric, ...trendOf(samples, metric) }));
  for (const { label, first, last, grows } of trends) {
    if (grows) problems.push(`${label} grows: ${first} to ${last}`);
  }
  const text = reportText({ seconds, samples, rounds, trends, problems });
  console.log(text);
  process.exitCode = problems.length === 0 ? 0 : 1;
  if (values.out === undefined) return;
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, 'README.md'), `${text}\n`);
  writeFileSync(join(values.out, 'soak.svg'), plot(samples));
}

async function abandon() {
  await subject.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}
