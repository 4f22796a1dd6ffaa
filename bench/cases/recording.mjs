import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bin } from '../../testkit/launch.mjs';
import { spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { withOwnServer } from '../lib/own-server.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { textFile } from '../lib/text-file.mjs';

/** What goes through a terminal in memory takes much longer, so it gets less. */
const SUBJECTS = [
  { name: 'asciicast', part: 1 },
  { name: 'text', part: 1 / 8 },
  { name: 'html', part: 1 / 8 },
];

export const recording = {
  name: 'recording',
  title: 'A recording made of stored output',
  about:
    '`logs --format` of a log on disk, and of one a quarter as long. Memory is the most that the command had',
  metrics: [
    { key: 'logMb', label: 'log MB' },
    { key: 'mbPerSecond', label: 'MB/s' },
    { key: 'peakMb', label: 'peak memory MB' },
  ],
  headline: 'mbPerSecond',
  run: ({ plan, scratch }) => {
    const room = ['--spool', join(scratch, 'recordings'), '--spool-bytes', '3000000000'];
    return withOwnServer(room, ({ url }) => measure(url, plan.recording, scratch));
  },
};

async function measure(url, { rounds, byteCount }, scratch) {
  const file = textFile(scratch, byteCount);
  const subjects = SUBJECTS.flatMap(({ name: format, part }) =>
    [
      { name: format, bytes: byteCount * part },
      { name: `${format}, a quarter`, bytes: (byteCount * part) / 4 },
    ].map((each) => ({ ...each, format, id: stored(url, file, each.bytes) })),
  );
  const runs = await interleave(subjects, { rounds }, ({ format, id }) => convert(url, id, format));
  return subjects.map(({ name, bytes }) => {
    const of = (pick) => rounded(median(runs.get(name).map(pick)));
    return {
      subject: name,
      values: {
        logMb: rounded(bytes / 1e6),
        mbPerSecond: of(({ seconds }) => bytes / 1e6 / seconds),
        peakMb: of(({ peakMb }) => peakMb),
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
