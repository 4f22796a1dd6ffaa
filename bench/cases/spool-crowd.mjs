import { mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { interleave } from '../lib/interleave.mjs';
import { withClient, withOwnServer } from '../lib/own-server.mjs';
import { startParams } from '../lib/processes.mjs';
import { residentMb } from '../lib/procfs.mjs';
import { median, rounded } from '../lib/stats.mjs';

const SUBJECTS = [
  { name: 'in memory', start: {} },
  { name: 'on disk', start: { retain: 'disk' } },
];
/** Started at a time. */
const BATCH = 32;
const SAMPLE_MS = 100;
/** Output is on disk, and its files are closed, this long after it came; the same for those without. */
const SETTLED_SAMPLES = 25;

const metrics = [
  { key: 'idleMb', label: 'MB before' },
  { key: 'residentMb', label: 'MB with all' },
  { key: 'descriptors', label: 'descriptors' },
];

export const spoolCrowd = {
  name: 'spool-crowd',
  title: 'Many idle processes whose output is kept on disk',
  about:
    'Kept processes that have printed a line and sleep, with and without `retain: "disk"`: resident memory and open descriptors of the server',
  metrics,
  headline: 'residentMb',
  baseline: 'in memory',
  run: async ({ plan, scratch }) => {
    const { rounds, size } = plan.spoolCrowd;
    const runs = await interleave(SUBJECTS, { rounds }, ({ start }) => gather({ start, size, scratch }));
    return SUBJECTS.map(({ name }) => ({
      subject: name,
      values: Object.fromEntries(
        metrics.map(({ key }) => [key, rounded(median(runs.get(name).map((run) => run[key])))]),
      ),
      samples: rounds,
    }));
  },
};

function gather({ start, size, scratch }) {
  const directory = join(mkdtempSync(join(scratch, 'crowd-')), 'spool');
  return withOwnServer(['--spool', directory], (server) =>
    withClient(server, async (client) => {
      const idleMb = residentMb(server.pid);
      const line = 'ready\n';
      for (let begun = 0; begun < size; begun += BATCH) {
        const count = Math.min(BATCH, size - begun);
        const argv = ['/bin/sh', '-c', 'echo ready; exec sleep 1000'];
        const all = Array.from({ length: count }, () => startParams(argv, { lease: 'kept', ...start }));
        const printed = client.output(count * line.length);
        await Promise.all([printed, ...all.map((params) => client.request('process/start', params))]);
      }
      await settled(server.pid, directory);
      return { idleMb, residentMb: residentMb(server.pid), descriptors: openFiles(server.pid).length };
    }),
  );
}

/** Waits as long with files as without. */
async function settled(pid, directory) {
  for (let sample = 0; sample < SETTLED_SAMPLES; sample += 1) await pause(SAMPLE_MS);
  while (openFiles(pid).some((path) => path.startsWith(directory))) await pause(SAMPLE_MS);
}

function openFiles(pid) {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}
