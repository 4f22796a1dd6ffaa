import { childrenOf, cpuTimes } from '../lib/procfs.mjs';
import { sum } from '../lib/stats.mjs';

const zero = () => ({ user: 0, system: 0 });
const together = ({ user, system }) => user + system;

/** Counts the CPU several processes use for some work, round by round. */
export class Consumption {
  #pids;
  #programOf;
  #rounds = [];

  /** `pids` by role. The programs that `programOf` starts are a role of their own. */
  constructor(pids, { programOf }) {
    this.#pids = pids;
    this.#programOf = programOf;
  }

  /** Does one round of this much work, and resolves to what it returned. */
  async during(work, amount) {
    const before = this.#read();
    const begun = performance.now();
    const value = await work();
    const seconds = (performance.now() - begun) / 1000;
    const after = this.#read();
    const used = Object.keys(after).map((role) => ({
      role,
      user: after[role].user - before[role].user,
      system: after[role].system - before[role].system,
    }));
    this.#rounds.push({ seconds, amount, used, cpu: sum(used.map(together)) });
    return value;
  }

  /** Milliseconds of CPU one unit of work took each role, in the round others disturbed least. */
  roles() {
    const { used, amount } = this.#cheapest();
    const perUnit = (seconds) => (seconds * 1000) / amount;
    return used.map(({ role, user, system }) => ({ role, user: perUnit(user), system: perUnit(system) }));
  }

  perUnitMs(role) {
    return together(this.roles().find((each) => each.role === role));
  }

  /** How many cores were busy with that round, and how much of the work they could do in a second at that cost. */
  cores() {
    const { cpu, seconds, amount } = this.#cheapest();
    return { busy: cpu / seconds, amountPerCoreSecond: amount / cpu };
  }

  #cheapest() {
    return this.#rounds.reduce((best, round) =>
      round.cpu / round.amount < best.cpu / best.amount ? round : best,
    );
  }

  #read() {
    const roles = Object.entries(this.#pids).map(([role, pid]) => [role, cpuTimes(pid).own]);
    return { program: programTimes(this.#pids[this.#programOf]), ...Object.fromEntries(roles) };
  }
}

/** What the children of a process have used, those that still run included. */
function programTimes(pid) {
  const all = [cpuTimes(pid).children, ...childrenOf(pid).map(timesOf)];
  return { user: sum(all.map(({ user }) => user)), system: sum(all.map(({ system }) => system)) };
}

function timesOf(pid) {
  try {
    return cpuTimes(pid).own;
  } catch {
    // It has just ended, and counts with those.
    return zero();
  }
}
