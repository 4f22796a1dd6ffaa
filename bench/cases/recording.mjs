import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bin, firstLine } from '../../testkit/launch.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { textFile } from '../lib/text-file.mjs';

/** What goes through a terminal in memory takes much longer, so it gets less. */
const SUBJECTS = [
  { name: 'asciicast', part: 1 },
  { name: 'text', part: 1 / 8 },
  { name: 'html', part: 1 / 8 },
];
/** Of the log that the larger one is compared with. */
const SMALL_BYTES = 8 * 1024 * 1024;

export const recording = {
  name: 'recording',
  title: 'A recording made of stored output',
  about:
    '`logs --format` of a log on disk. Memory is what the command had at most, beside what it had for a log of 8 MiB',
  metrics: [
    { key: 'logMb', label: 'log MB' },
    { key: 'mbPerSecond', label: 'MB/s' },
    { key: 'peakMb', label: 'peak memory MB' },
    { key: 'smallPeakMb', label: 'of 8 MiB' },
  ],
  headline: 'mbPerSecond',
  run: ({ plan, scratch }) => withSpool(scratch, (url) => measure(url, plan.recording, scratch)),
};

async function measure(url, { rounds, byteCount }, scratch) {
  const file = textFile(scratch, byteCount);
  const small = stored(url, file, SMALL_BYTES);
  const subjects = SUBJECTS.map(({ name, part }) => {
    const bytes = Math.round(byteCount * part);
    return { name, bytes, large: stored(url, file, bytes) };
  });
  const runs = await interleave(subjects, { rounds }, async ({ name: format, large }) => ({
    small: await convert(url, small, format),
    large: await convert(url, large, format),
  }));
  return subjects.map(({ name, bytes }) => {
    const of = (pick) => rounded(median(runs.get(name).map(pick)));
    return {
      subject: name,
      values: {
        logMb: rounded(bytes / 1e6),
        mbPerSecond: of(({ large }) => bytes / 1e6 / large.seconds),
        peakMb: of(({ large }) => large.peakMb),
        smallPeakMb: of((run) => run.small.peakMb),
      },
      samples: rounds,
    };
  });
}

/** The id of a process that has printed so much of a file. */
function stored(url, file, bytes) {
  const run = (...args) => execFileSync(process.execPath, [bin, ...args], { encoding: 'utf8' }).trim();
  const id = run('run', '-e', url, '--detach', '--', 'head', '-c', String(bytes), file);
  run('wait', '-e', url, id);
  return id;
}

/** Node itself tells how large it became. */
async function convert(url, id, format) {
  const report = 'data:text/javascript,process.on("exit",()=>console.error(process.resourceUsage().maxRSS))';
  const begun = performance.now();
  const argv = [process.execPath, '--import', report, bin, 'logs', '-e', url, '--format', format, id];
  const child = spawnTracked(argv, { stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  child.stderr.on('data', (data) => {
    told += data;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`logs ended with ${code}: ${told}`);
  return { seconds: (performance.now() - begun) / 1000, peakMb: (Number(told) * 1024) / 1e6 };
}

async function withSpool(scratch, work) {
  const room = ['--spool', join(scratch, 'recordings'), '--spool-bytes', '3000000000'];
  const argv = [process.execPath, bin, 'serve', '--listen', 'ws://127.0.0.1:0', ...room];
  const server = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    return await work(await firstLine(server));
  } finally {
    await endChild(server);
  }
}
