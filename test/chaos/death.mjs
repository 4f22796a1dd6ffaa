// Plays scenarios in which servers die, are stopped and replaced, and tells what broke.
//   node test/chaos/death.mjs [--from N] [--count N] [--concurrency N] [--without SURROUNDINGS]
//   node test/chaos/death.mjs --seed N        one scenario, to look at a failure again
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { dialWebSocket, ExecClient, startProcess } from '../../dist/client/index.js';
import { deathPlanOf } from './death-plan.mjs';
import { DurableSubject } from './durable-subject.mjs';
import { MARK_NAME } from './jobs.mjs';
import { play } from './scenario.mjs';
import { openSeeds, playInTurn } from './seeds.mjs';
import { pidsWithMark } from './subject.mjs';

/** A keeper allows a server so many deaths in a minute, and each scenario has up to three. */
const SCENARIOS_PER_SERVER = 5;

const { values, take, failed, run } = openSeeds({
  count: 1000,
  concurrency: 3,
  own: { without: { type: 'string' }, death: { type: 'boolean' } },
});
const sites = { allowed: await openSite('allowed'), denied: await openSite('denied') };
await run(worker);

/** Says its name to everybody. Ends with this program. */
async function openSite(name) {
  const server = createServer((_, response) => response.end(name))
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/`;
}

/** Uses one server for a few scenarios, then another. */
async function worker() {
  for (let isOver = false; !isOver; ) {
    const seeds = take(SCENARIOS_PER_SERVER);
    isOver = seeds.length < SCENARIOS_PER_SERVER;
    const plans = seeds.map(deathPlanOf).filter((plan) => plan.around !== (values.without ?? null));
    const survivors = plans.filter(({ ending }) => ending !== 'keeperKilled');
    if (survivors.length > 0) await onOneServer(survivors);
    for (const plan of plans) if (!survivors.includes(plan)) await killKeeper(plan).catch(failed(plan));
  }
}

async function onOneServer(plans) {
  const subject = await DurableSubject.start(sites);
  mkdirSync(subject.folder, { recursive: true });
  await playInTurn(plans, subject, { play: (plan) => play(plan, subject), failed });
}

/** Everything ends with the keeper, and nobody says how. */
async function killKeeper(plan) {
  const subject = await DurableSubject.start(sites);
  const mark = `death-${process.pid}-${plan.seed}-`;
  try {
    const client = await ExecClient.connect({ dial: () => dialWebSocket(subject.url), resume: true });
    const env = { [MARK_NAME]: mark };
    const tree = ['sh', '-c', 'sleep 1000 & setsid sleep 1000 & wait'];
    const children = [
      await startProcess(client, { argv: tree, env }),
      await startProcess(client, { argv: ['yes'], env }),
      await startProcess(client, { argv: ['cat'], env, tty: true }),
    ];
    const ends = children.map((child) => child.wait().catch((error) => ({ kind: error.code })));
    await pause(plan.killAfterMs);
    await subject.killKeeper();
    await DurableSubject.gone(() => pidsWithMark(mark));
    await client.close();
    for (const { kind } of await Promise.all(ends))
      assert.ok(kind !== 'exited' && kind !== 'signalled', kind);
  } finally {
    subject.discard();
  }
}
