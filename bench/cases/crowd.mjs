import { interleave } from '../lib/interleave.mjs';
import { startParams } from '../lib/processes.mjs';
import { residentMb } from '../lib/procfs.mjs';
import { openServer } from '../lib/servers.mjs';
import { median, rounded } from '../lib/stats.mjs';

/** Requests under way at a time. Codex 0.166.0 stops answering for good at some 250, so all at once will not do. */
const IN_FLIGHT = 32;

const metrics = [
  { key: 'startMs', label: 'start all ms' },
  { key: 'endMs', label: 'end all ms' },
  { key: 'idleMb', label: 'MB before' },
  { key: 'residentMb', label: 'MB with all' },
  { key: 'kbPerProcess', label: 'kB each' },
];

/** Many processes that do nothing. Each round has a fresh server, whose memory tells of nothing else. */
export function crowd(size) {
  return {
    name: `crowd-${size}`,
    title: `${size.toLocaleString('en')} processes at once`,
    about: `\`sleep 1000\`, ${size.toLocaleString('en')} times: all started, then all terminated; resident memory of the server`,
    metrics,
    headline: 'startMs',
    run: async ({ servers, plan }) => {
      const runs = await interleave(servers, { rounds: plan.crowd.rounds }, (subject) =>
        gather(subject, size),
      );
      return servers.map(({ name }) => ({
        subject: name,
        values: medians(runs.get(name)),
        samples: plan.crowd.rounds,
      }));
    },
  };
}

async function gather(subject, size) {
  const server = await openServer(subject);
  try {
    const { client, pid } = server;
    const all = Array.from({ length: size }, () => startParams(['sleep', '1000']));
    const idleMb = residentMb(pid);
    const startMs = await timed(all, (params) => client.request('process/start', params));
    const withAllMb = residentMb(pid);
    const endMs = await timed(all, ({ processId }) => terminate(client, processId));
    const kbPerProcess = ((withAllMb - idleMb) * 1000) / size;
    return { startMs, endMs, idleMb, residentMb: withAllMb, kbPerProcess };
  } finally {
    await server.stop();
  }
}

function terminate(client, processId) {
  return Promise.all([client.closing(processId), client.request('process/terminate', { processId })]);
}

/** Works through all items, `IN_FLIGHT` at a time; resolves to the milliseconds that took. */
async function timed(items, work) {
  const begun = performance.now();
  const queue = items.values();
  const lane = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return performance.now() - begun;
}

function medians(runs) {
  return Object.fromEntries(metrics.map(({ key }) => [key, rounded(median(runs.map((run) => run[key])))]));
}
