import { setTimeout as pause } from 'node:timers/promises';
import { dialWebSocket } from '../../dist/client/index.js';
import { percentile, rounded } from '../lib/stats.mjs';
import { REAL } from './place.mjs';
import { Talk } from './talks.mjs';

/** Talks that go on meanwhile, with machines on all nodes. */
const TALKS = 30;
const STOP_MS = 5_000;
const SETTLE_MS = 2_000;
const WATCH_MS = 3_000;
const LOOK_MS = 20;

/** The longest time without an answer when a node is killed or stopped, each in turn; and until its clients are elsewhere. */
export async function loseNodes(place) {
  const fleet = await place.client();
  const { names } = place.machines;
  const some = names.filter((_, index) => index % Math.ceil(names.length / TALKS) === 0);
  const talks = await Promise.all(some.map((name) => Talk.begin(() => fleet.dial(name))));
  const longest = () => Math.max(...talks.flatMap((talk) => talk.take()));
  const kills = [];
  const returns = [];
  const stops = [];
  for (const node of place.cluster.nodes) {
    await pause(SETTLE_MS);
    const normal = longest();
    const { connections } = place;
    const others = place.cluster.nodes.filter((each) => each !== node);
    const all = await connections.call(place, place.cluster.nodes);
    const begun = performance.now();
    place.cluster.signal(node, 'SIGKILL');
    while ((await place.connections(others)) < all) await pause(LOOK_MS);
    returns.push(performance.now() - begun);
    await pause(SETTLE_MS);
    kills.push(longest());
    await place.cluster.restart(node);
    console.log(
      `  normal ${rounded(normal)} ms, killed ${rounded(kills.at(-1) ?? 0)}, all elsewhere after ${rounded(returns.at(-1) ?? 0)}`,
    );
  }
  for (const node of place.cluster.nodes) {
    await pause(SETTLE_MS);
    longest();
    place.cluster.signal(node, 'SIGSTOP');
    await pause(STOP_MS);
    place.cluster.signal(node, 'SIGCONT');
    await pause(SETTLE_MS / 2);
    stops.push(longest());
    console.log(`  stopped ${rounded(stops.at(-1) ?? 0)} ms`);
  }
  await Promise.all(talks.map((talk) => talk.end()));
  const dials = Math.max(...talks.map((talk) => talk.dials));
  await fleet.close();
  return {
    killPauseMs: rounded(Math.max(...kills)),
    stopPauseMs: rounded(Math.max(...stops)),
    thirdReturnsMs: rounded(Math.max(...returns)),
    redials: dials - 1,
  };
}

/** How much longer clients of one gateway wait, at worst, while another one stands still in the middle of output. */
export async function stopGateway(place) {
  const [first, second] = await Promise.all([place.gateway(1), place.gateway(1)]);
  const through = (gateway) => () => dialWebSocket(`${gateway.url}/e/${REAL}`);
  const talks = await Promise.all(Array.from({ length: 10 }, () => Talk.begin(through(second))));
  const busy = await Promise.all(Array.from({ length: 5 }, () => Talk.begin(through(first))));
  const p99 = async () => {
    for (const talk of talks) talk.take();
    await pause(WATCH_MS);
    return percentile(
      talks.flatMap((talk) => talk.take()),
      0.99,
    );
  };
  const before = await p99();
  first.child.kill('SIGSTOP');
  const during = await p99();
  first.child.kill('SIGCONT');
  await Promise.all([...talks, ...busy].map((talk) => talk.end()));
  await Promise.all([first.stop(), second.stop()]);
  return {
    p99Ms: rounded(before),
    p99StoppedMs: rounded(during),
    stoppedGatewayRatio: rounded(during / before),
  };
}
