import { interleave } from '../lib/interleave.mjs';
import { mainThreadTimes } from '../lib/procfs.mjs';
import { percentile, repeat, rounded, sum } from '../lib/stats.mjs';
import { LINE_BYTES, withStoredLog } from '../lib/stored-log.mjs';

const PAGE_BYTES = 64 * 1024;
/** A page of lines to look at. */
const PAGE_LINES = 100;
/** From the end; memory holds more. */
const IN_MEMORY_BYTES = 256 * 1024;

export const spoolPages = {
  name: 'spool-pages',
  title: 'Pages of a large log on disk',
  about:
    'A page from anywhere in a log: 64 KiB by `process/read`, 100 lines by `process/lines`. CPU is that of the server for one page',
  metrics: [
    { key: 'p50', label: 'p50 ms' },
    { key: 'p99', label: 'p99 ms' },
    { key: 'cpuMs', label: 'server CPU ms' },
  ],
  headline: 'cpuMs',
  baseline: '64 KiB in memory',
  run: ({ plan, scratch }) => {
    const { byteCount } = plan.storedLog;
    return withStoredLog(scratch, byteCount, (log) => measure(log, plan.storedLog));
  },
};

async function measure({ client, processId, pid }, { byteCount, rounds, count, budgetMs }) {
  const { nextSeq } = await client.request('process/read', { processId, afterSeq: 0, maxBytes: 1 });
  const page = (afterSeq) => client.request('process/read', { processId, afterSeq, maxBytes: PAGE_BYTES });
  const last = await lastSeq(page, nextSeq);
  const memorySeqs = Math.max(1, Math.floor((last * IN_MEMORY_BYTES) / byteCount));
  const lines = Math.floor(byteCount / LINE_BYTES) - PAGE_LINES;
  const subjects = [
    { name: '64 KiB in memory', ask: () => page(last - 1 - below(memorySeqs)) },
    { name: '64 KiB on disk', ask: () => page(below(last - 4 * memorySeqs)) },
    { name: '100 lines on disk', ask: () => linesAt(client, processId, 1 + below(lines)) },
  ];
  const runs = await interleave(subjects, { rounds, warmUp: true }, async ({ ask }) => {
    const before = mainThreadTimes(pid).ranMs;
    const samples = await repeat({ count, budgetMs }, () => timed(ask));
    return { samples, ranMs: mainThreadTimes(pid).ranMs - before };
  });
  return subjects.map(({ name }) => {
    const samples = runs.get(name).flatMap((run) => run.samples);
    const cpuMs = sum(runs.get(name).map(({ ranMs }) => ranMs)) / samples.length;
    const values = { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99), cpuMs };
    return {
      subject: name,
      values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rounded(value)])),
      samples: samples.length,
    };
  });
}

/** Found by halving: entries behind the last one are an empty page. */
async function lastSeq(page, first) {
  let high = first;
  while ((await page(high)).chunks.length > 0) high *= 2;
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((await page(middle)).chunks.length > 0) low = middle;
    else high = middle;
  }
  return high;
}

async function linesAt(client, processId, from) {
  const { lines } = await client.request('process/lines', { processId, from, to: from + PAGE_LINES - 1 });
  if (lines.length !== PAGE_LINES || lines[0].line !== from) throw new Error('these are not the lines');
}

async function timed(ask) {
  const begun = performance.now();
  await ask();
  return performance.now() - begun;
}

function below(count) {
  return Math.floor(Math.random() * count);
}
