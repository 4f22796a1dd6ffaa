import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endChild } from './launch.mjs';

const host = fileURLToPath(new URL('machine-host.mjs', import.meta.url));
/** More would make the process that hosts them the bottleneck. */
const DEFAULT_PER_PROCESS = 250;
/** Leaving takes a round trip of each machine. */
const LEAVE_LIMIT_MS = 10_000;

/** A fleet of machines named `m0`, `m1` and so on, in pools `p0` to `p9`, many of them in each of some processes. */
export class FleetMachines {
  /** @type {readonly string[]} */
  names;
  /** Those that were thrown out of the fleet, and why. */
  lost;
  joinMs;
  bytesPerMachine;
  #children;

  /**
   * @param {import('node:child_process').ChildProcess[]} children
   * @param {{ count: number, joined: { joinMs: number, bytesPerMachine: number }[], lost: string[] }} facts
   * @private
   */
  constructor(children, { count, joined, lost }) {
    this.#children = children;
    this.lost = lost;
    this.names = Array.from({ length: count }, (_, index) => `m${index}`);
    this.joinMs = Math.max(...joined.map(({ joinMs }) => joinMs));
    this.bytesPerMachine = joined.reduce((sum, each) => sum + each.bytesPerMachine, 0) / joined.length;
  }

  /**
   * Resolves when all of them have joined.
   * @param {{ servers: readonly string[], count: number, perProcess?: number, jobSlots?: number }} options
   */
  static async start({ servers, count, perProcess = DEFAULT_PER_PROCESS, jobSlots = 0 }) {
    /** @type {string[]} */
    const lost = [];
    const children = Array.from({ length: Math.ceil(count / perProcess) }, (_, index) => {
      const child = fork(host, { execArgv: ['--expose-gc'] });
      const from = index * perProcess;
      child.send({ servers, from, to: Math.min(count, from + perProcess), jobSlots });
      return child;
    });
    const joined = await Promise.all(
      children.map(async (child) => {
        const [first] = await Promise.race([
          once(child, 'message'),
          once(child, 'exit').then(([code]) => {
            throw new Error(`machines ended at startup with ${code}`);
          }),
        ]);
        child.on('message', (/** @type {{ lost?: string }} */ message) => {
          if (message.lost) lost.push(message.lost);
        });
        return first;
      }),
    );
    return new FleetMachines(children, { count, joined, lost });
  }

  get pids() {
    return this.#children.map(({ pid = -1 }) => pid);
  }

  async stop() {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        const timer = setTimeout(() => void endChild(child, 'SIGKILL'), LEAVE_LIMIT_MS);
        child.disconnect();
        await exit;
        clearTimeout(timer);
      }),
    );
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}
