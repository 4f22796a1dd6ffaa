import { setTimeout as pause } from 'node:timers/promises';
import { interleave } from '../lib/interleave.mjs';
import { runOutput } from '../lib/processes.mjs';
import { cpuSeconds, residentMb } from '../lib/procfs.mjs';
import { openServer } from '../lib/servers.mjs';
import { median, rounded } from '../lib/stats.mjs';

const SAMPLE_MS = 50;
/** Without CPU use for this many samples in a row the server waits for its reader. */
const STILL_SAMPLES = 10;
/** A server that never comes to rest buffers without end; its memory by then says so. */
const MAX_SAMPLES = 200;

const metrics = [
  { key: 'idleMb', label: 'MB before' },
  { key: 'peakMb', label: 'MB stalled, peak' },
  { key: 'grownMb', label: 'MB grown' },
];

export const slowReader = {
  name: 'slow-reader',
  title: 'A client that does not read',
  about:
    'Resident memory of the server while a process floods a connection nobody reads; afterwards all of it must arrive',
  metrics,
  headline: 'grownMb',
  run: async ({ servers, plan }) => {
    const { rounds, byteCount } = plan.slowReader;
    const runs = await interleave(servers, { rounds }, (subject) => stall(subject, byteCount));
    return servers.map(({ name }) => ({ subject: name, values: medians(runs.get(name)), samples: rounds }));
  },
};

async function stall(subject, byteCount) {
  const server = await openServer(subject);
  try {
    const { client, pid } = server;
    const idleMb = residentMb(pid);
    client.pauseReading();
    const argv = ['head', '-c', String(byteCount), '/dev/zero'];
    const all = runOutput(client, { argv, byteCount, tty: false });
    const peakMb = await Promise.race([peakUntilStill(pid), all.then(() => neverStalled())]);
    client.resumeReading();
    await all;
    return { idleMb, peakMb, grownMb: peakMb - idleMb };
  } finally {
    await server.stop();
  }
}

async function peakUntilStill(pid) {
  let peakMb = 0;
  let used = -1;
  for (let sample = 0, still = 0; sample < MAX_SAMPLES && still < STILL_SAMPLES; sample += 1) {
    await pause(SAMPLE_MS);
    peakMb = Math.max(peakMb, residentMb(pid));
    const now = cpuSeconds(pid);
    still = now === used ? still + 1 : 0;
    used = now;
  }
  return peakMb;
}

/** @returns {never} */
function neverStalled() {
  throw new Error('everything arrived although nothing was read');
}

function medians(runs) {
  return Object.fromEntries(metrics.map(({ key }) => [key, rounded(median(runs.map((run) => run[key])))]));
}
