import { once } from 'node:events';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { median, rounded } from '../lib/stats.mjs';
import { lineName } from './lines.mjs';
import { openLines } from './machines.mjs';
import { prepareMaterial } from './material.mjs';
import { PeakMemory } from './peak-memory.mjs';
import { sshTo, warm, WORKS } from './works.mjs';

/**
 * @typedef {{ seconds: number, clientMb?: number | undefined, serverMb?: number | undefined }} Figures
 * @typedef {{ line: import('./lines.mjs').Line, work: string, subject: string } & Figures} Row
 */

/**
 * Does all the work over one line, everybody in turns.
 * @param {import('./lines.mjs').Line} line
 * @param {{ started: Awaited<ReturnType<typeof import('./machines.mjs').startMachines>>, folder: string, rounds: number, only: string[] }} options
 * @returns {Promise<Row[]>}
 */
export async function measureLine(line, { started, folder, rounds, only }) {
  const { machines, login, controlPath } = started;
  const ends = await openLines(machines, line);
  const material = prepareMaterial(folder, line);
  const place = { ends, login, controlPath, material };
  const master = await startMaster(place);
  /** @type {Row[]} */
  const rows = [];
  try {
    for (const { name, subjects } of WORKS.filter(({ name }) => only.length === 0 || only.includes(name))) {
      const entrants = Object.entries(subjects(place)).map(([subject, run]) => ({ name: subject, run }));
      const runs = await interleave(entrants, { rounds }, async (entrant) => {
        material.sweep();
        return await withServerMemory(machines[entrant.name]?.pid, entrant.run);
      });
      for (const [subject, figures] of runs) rows.push({ line, work: name, subject, ...medians(figures) });
      console.log(`${lineName(line)}: ${name} measured`);
    }
  } finally {
    await endChild(master);
    await Promise.all(Object.values(ends).map(({ stop }) => stop()));
  }
  return rows;
}

/** One login, whose connection `ssh, warm` uses. It listens for others before its local command. */
async function startMaster(/** @type {import('./works.mjs').Place} */ place) {
  const ready = ['-o', 'PermitLocalCommand=yes', '-o', 'LocalCommand=echo ready'];
  const argv = ['ssh', '-M', '-N', ...warm(place), ...ready, ...sshTo(place)];
  const master = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(master.stdout, 'data');
  return master;
}

/**
 * @param {number | undefined} pid
 * @param {() => Promise<Figures>} run
 * @returns {Promise<Figures>}
 */
async function withServerMemory(pid, run) {
  if (pid === undefined) return await run();
  const peak = new PeakMemory(pid);
  try {
    return { ...(await run()), serverMb: peak.stop() };
  } finally {
    peak.stop();
  }
}

/** @param {Figures[]} runs @returns {Figures} */
function medians(runs) {
  const of = (/** @type {'seconds' | 'clientMb' | 'serverMb'} */ key) => {
    const values = runs.map((run) => run[key]).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : rounded(median(values));
  };
  return { seconds: of('seconds') ?? Number.NaN, clientMb: of('clientMb'), serverMb: of('serverMb') };
}
