import { childrenOf, cpuTimes } from '../lib/procfs.mjs';

const zero = () => ({ user: 0, system: 0 });

/** Counts the CPU several processes use during some work. */
export class Consumption {
  #pids;
  #programOf;
  #used;
  /** Seconds and units of work that were counted. */
  seconds = 0;
  amount = 0;

  /** `pids` by role. The programs that `programOf` starts are a role of their own. */
  constructor(pids, { programOf }) {
    this.#pids = pids;
    this.#programOf = programOf;
    this.#used = { program: zero(), ...Object.fromEntries(Object.keys(pids).map((role) => [role, zero()])) };
  }

  async during(work, amount) {
    const before = this.#read();
    const begun = performance.now();
    const value = await work();
    this.seconds += (performance.now() - begun) / 1000;
    this.amount += amount;
    const after = this.#read();
    for (const [role, used] of Object.entries(this.#used)) {
      used.user += after[role].user - before[role].user;
      used.system += after[role].system - before[role].system;
    }
    return value;
  }

  /** Each role with the seconds of CPU it used. */
  roles() {
    return Object.entries(this.#used).map(([role, used]) => ({ role, ...used }));
  }

  /** Milliseconds of CPU a role used for one unit of work. */
  perUnitMs(role) {
    const { user, system } = this.#used[role];
    return ((user + system) * 1000) / this.amount;
  }

  /** How many cores were busy with it all on average. */
  get cores() {
    return this.roles().reduce((sum, { user, system }) => sum + user + system, 0) / this.seconds;
  }

  #read() {
    const roles = Object.entries(this.#pids).map(([role, pid]) => [role, cpuTimes(pid).own]);
    return { program: programTimes(this.#pids[this.#programOf]), ...Object.fromEntries(roles) };
  }
}

/** What the children of a process have used, those that still run included. */
function programTimes(pid) {
  const living = childrenOf(pid).map(timesOf);
  const all = [cpuTimes(pid).children, ...living];
  return {
    user: all.reduce((sum, { user }) => sum + user, 0),
    system: all.reduce((sum, { system }) => sum + system, 0),
  };
}

function timesOf(pid) {
  try {
    return cpuTimes(pid).own;
  } catch {
    // It has just ended, and counts with those.
    return zero();
  }
}
