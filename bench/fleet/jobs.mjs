import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { jetstreamManager } from '@nats-io/jetstream';
import { rounded } from '../lib/stats.mjs';

const BURST = 300;
const SUBMIT_INTERVAL_MS = 100;
/** Leaders that are killed, one after the other. */
const KILLS = 10;
/** Between a leader's return and the death of the next one. */
const CALM_MS = 2_000;
/** Longer than any election. */
const RETURN_LIMIT_MS = 30_000;
const LOOK_MS = 20;

const trueJob = { on: 'pool', argv: ['/bin/true'] };

/** Jobs a second, from the first that is submitted until all have a result. */
export async function jobThroughput(place) {
  const fleet = await place.client();
  const jobs = await fleet.jobs();
  const begun = performance.now();
  const submitted = await Promise.all(Array.from({ length: BURST }, () => jobs.submit(trueJob)));
  const acknowledged = performance.now() - begun;
  for (const { result } of await Promise.all(submitted.map(({ id }) => jobs.wait(id))))
    if (result?.kind !== 'exited') throw new Error(`a job ended as ${result?.kind}`);
  const seconds = (performance.now() - begun) / 1000;
  await fleet.close();
  return {
    submitsPerSecond: rounded((BURST / acknowledged) * 1000),
    jobsPerSecond: rounded(BURST / seconds),
  };
}

/** Kills the leader of the queue again and again while jobs are submitted: none is lost, and how long nothing is acknowledged. */
export async function killLeaders(place) {
  const fleet = await place.client();
  const jobs = await fleet.jobs();
  const ids = [];
  let longestMs = 0;
  const over = new AbortController();
  const submitting = (async () => {
    while (!over.signal.aborted) {
      const begun = performance.now();
      ids.push((await jobs.submit(trueJob)).id);
      longestMs = Math.max(longestMs, performance.now() - begun);
      await pause(SUBMIT_INTERVAL_MS);
    }
  })();
  submitting.catch(() => undefined);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const leader = await leaderOf(place);
    const before = ids.length;
    const begun = performance.now();
    await place.cluster.kill(leader);
    await Promise.race([
      submitting,
      (async () => {
        // One may have been on its way.
        while (ids.length < before + 2 && performance.now() - begun < RETURN_LIMIT_MS) await pause(LOOK_MS);
      })(),
    ]);
    await place.cluster.restart(leader);
    await pause(CALM_MS);
  }
  over.abort();
  await submitting;
  const ended = await Promise.all(ids.map((id) => jobs.wait(id)));
  const lost = ended.filter(({ result }) => result?.kind !== 'exited').length;
  await fleet.close();
  return {
    leaderKills: KILLS,
    jobsAcknowledged: ids.length,
    jobsLost: lost,
    longestPauseMs: rounded(longestMs),
  };
}

async function leaderOf(place) {
  const nats = await connect({ servers: place.cluster.urls });
  try {
    const manager = await jetstreamManager(nats, { timeout: 2_000 });
    for (;;) {
      const info = await manager.streams.info('ew-default-jobs').catch(() => undefined);
      const leader = place.cluster.nodes.find(({ name }) => name === info?.cluster?.leader);
      if (leader) return leader;
      await pause(LOOK_MS * 5);
    }
  } finally {
    await nats.close();
  }
}
