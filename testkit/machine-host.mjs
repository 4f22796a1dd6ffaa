// Many machines of a fleet in one process, each with a bus connection of its own; one server runs all of their programs.
// Started by `FleetMachines`, which tells what to do in messages.
import { ExecServer } from '../dist/server/index.js';
import { FleetMember } from '../dist/fleet/index.js';

/** Joins at a time: a fleet does not come up in one instant. */
const BATCH = 50;

process.once('message', (/** @type {any} */ plan) => void host(plan));

/** @param {{ servers: string[], from: number, to: number, jobSlots?: number }} plan */
async function host({ servers, from, to, jobSlots = 0 }) {
  const server = new ExecServer({ maxSessions: (to - from) * 4 + 64 });
  const before = residentBytes();
  const begun = performance.now();
  /** @type {FleetMember[]} */
  const members = [];
  for (let at = from; at < to; at += BATCH) {
    const indexes = Array.from({ length: Math.min(BATCH, to - at) }, (_, i) => at + i);
    members.push(...(await Promise.all(indexes.map((index) => join(servers, { index, server, jobSlots })))));
  }
  process.send?.({
    joinMs: performance.now() - begun,
    bytesPerMachine: (residentBytes() - before) / (to - from),
  });
  process.once('disconnect', () => void leave(members, server));
}

/**
 * @param {FleetMember[]} members
 * @param {ExecServer} server
 */
async function leave(members, server) {
  await Promise.all(members.map((member) => member.close()));
  await server.close();
  process.exit(0);
}

/**
 * @param {string[]} servers
 * @param {{ index: number, server: ExecServer, jobSlots: number }} machine
 */
function join(servers, { index, server, jobSlots }) {
  return FleetMember.join(
    { servers },
    {
      name: `m${index}`,
      labels: { pool: `p${index % 10}` },
      server,
      insecure: true,
      ...(jobSlots > 0 ? { jobSlots } : {}),
      onLost: (reason) => process.send?.({ lost: `m${index}: ${reason}` }),
    },
  );
}

function residentBytes() {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
