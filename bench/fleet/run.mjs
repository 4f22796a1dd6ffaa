// Measures fleets on a real three-node NATS cluster on this machine.
//   node bench/fleet/run.mjs [--machines N] [--only PART]...
import { parseArgs } from 'node:util';
import { runAndLeave } from '../lib/leave.mjs';
import { table } from '../lib/table.mjs';
import { measureDiscovery, measureIdle } from './crowd.mjs';
import { judge } from './goals.mjs';
import { jobThroughput, killLeaders } from './jobs.mjs';
import { loseNodes, stopGateway } from './losses.mjs';
import { FleetPlace } from './place.mjs';
import { compareWays } from './ways.mjs';

/** With many idle machines around. */
const CROWDED = {
  idle: measureIdle,
  discovery: measureDiscovery,
  ways: compareWays,
  gateways: stopGateway,
  losses: loseNodes,
};
/** On a few machines that take jobs. */
const JOBS = { jobs: jobThroughput, leaders: killLeaders };
const JOB_MACHINES = { count: 10, jobSlots: 4 };

runAndLeave(async () => {
  const { values } = parseArgs({
    options: {
      machines: { type: 'string', default: '1000' },
      only: { type: 'string', multiple: true },
    },
  });
  const report = { machines: Number(values.machines) };
  const wanted = (parts) =>
    Object.entries(parts).filter(([name]) => values.only === undefined || values.only.includes(name));
  await measure(wanted(CROWDED), { count: report.machines }, report);
  await measure(wanted(JOBS), JOB_MACHINES, report);
  const rows = judge(report).map(({ goal, reached, limit, held }) => [
    goal,
    String(reached),
    String(limit),
    held ? 'held' : 'missed',
  ]);
  console.log(`\n${table(['', 'measured', 'goal', 'verdict'], rows)}`);
});

async function measure(parts, size, report) {
  if (parts.length === 0) return;
  const place = await FleetPlace.start(size);
  try {
    for (const [name, work] of parts) {
      report[name] = await work(place);
      console.log(name, JSON.stringify(report[name]));
    }
  } finally {
    await place.stop();
  }
}
