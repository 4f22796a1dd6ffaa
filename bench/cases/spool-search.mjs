import { setTimeout as pause } from 'node:timers/promises';
import { interleave } from '../lib/interleave.mjs';
import { withClient } from '../lib/own-server.mjs';
import { percentile, rounded } from '../lib/stats.mjs';
import { withStoredLog } from '../lib/stored-log.mjs';

/** Matches no line, so that all of them are looked at; no text that could be looked for stands in it. */
const PATTERN = '[a-z]+ [a-z]+ cats? [0-9]{3,}$';
const BETWEEN_MS = 2;

export const spoolSearch = {
  name: 'spool-search',
  title: 'Others during a search',
  about:
    '`environment/status` until its answer, while another client searches a log on disk by a regular expression',
  metrics: [
    { key: 'p50', label: 'p50 ms' },
    { key: 'p99', label: 'p99 ms' },
    { key: 'mbPerSecond', label: 'searched MB/s' },
  ],
  headline: 'p99',
  baseline: 'without a search',
  run: ({ plan, scratch }) =>
    withStoredLog(scratch, plan.storedLog.byteCount, (log) =>
      withClient(log, (other) => measure(log, other, plan.storedLog)),
    ),
};

async function measure({ client, processId }, other, { byteCount, rounds }) {
  const searching = async () => {
    const begun = performance.now();
    let isOver = false;
    const search = searchAll(client, processId).finally(() => {
      isOver = true;
    });
    const samples = await sampleWhile(other, () => !isOver);
    await search;
    return { samples, ms: performance.now() - begun };
  };
  let quietMs = 0;
  const quiet = async () => {
    const end = performance.now() + quietMs;
    return { samples: await sampleWhile(other, () => performance.now() < end), ms: quietMs };
  };
  const subjects = [
    { name: 'during a search', run: searching },
    { name: 'without a search', run: quiet },
  ];
  // As long without a search as with one.
  quietMs = (await searching()).ms;
  const runs = await interleave(subjects, { rounds }, ({ run }) => run());
  return subjects.map(({ name }) => {
    const samples = runs.get(name).flatMap((run) => run.samples);
    const seconds = runs.get(name).reduce((total, { ms }) => total + ms / 1000, 0);
    const values = { p50: rounded(percentile(samples, 0.5)), p99: rounded(percentile(samples, 0.99)) };
    if (name === 'during a search') values.mbPerSecond = rounded((rounds * byteCount) / 1e6 / seconds);
    return { subject: name, values, samples: samples.length };
  });
}

async function searchAll(client, processId) {
  for (let cursor; ; ) {
    const params = { processId, pattern: PATTERN, regex: true, ...(cursor ? { cursor } : {}) };
    const { matches, atEnd, cursor: next } = await client.request('process/search', params);
    if (matches.length > 0) throw new Error('nothing was to be found');
    if (atEnd) return;
    cursor = next;
  }
}

async function sampleWhile(client, goesOn) {
  const samples = [];
  do {
    const begun = performance.now();
    await client.request('environment/status');
    samples.push(performance.now() - begun);
    await pause(BETWEEN_MS);
  } while (goesOn());
  return samples;
}
