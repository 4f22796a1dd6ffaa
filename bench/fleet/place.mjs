import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fleet } from '../../dist/fleet/index.js';
import { FleetMachines } from '../../testkit/fleet-machines.mjs';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { cpuSeconds, residentMb } from '../lib/procfs.mjs';
import { createScratch } from '../lib/scratch.mjs';
import { sum } from '../lib/stats.mjs';

/** The machine that is a program of its own. */
export const REAL = 'real';

/** A cluster of three nodes with many machines on it, and one that is a program of its own, on the first node. */
export class FleetPlace {
  cluster;
  machines;
  real;
  /** Megabytes of all nodes together before machines joined. */
  emptyMb;
  #ports;

  /** @private */
  constructor({ cluster, machines, real, emptyMb, ports }) {
    this.cluster = cluster;
    this.machines = machines;
    this.real = real;
    this.emptyMb = emptyMb;
    this.#ports = ports;
  }

  static async start({ count, jobSlots = 0 }) {
    const ports = createScratch('fleet-ports');
    const extra = `http: "127.0.0.1:-1"\nports_file_dir: "${ports}"`;
    const cluster = await NatsCluster.start({ extra });
    process.once('exit', () => {
      for (const { child } of cluster.nodes) child?.kill('SIGKILL');
    });
    const emptyMb = sum(cluster.nodes.map(({ child }) => residentMb(child?.pid)));
    const machines = await FleetMachines.start({ servers: cluster.urls, count, jobSlots });
    const join = ['--fleet', cluster.urls[0] ?? '', '--name', REAL, '--insecure'];
    const real = await ServerProcess.start({ args: [...join, '--listen', 'ws://127.0.0.1:0'] });
    return new FleetPlace({ cluster, machines, real, emptyMb, ports });
  }

  /** A client on a node. */
  async client(node = 1) {
    return await Fleet.connect({ servers: [this.cluster.urls[node] ?? ''] });
  }

  async gateway(node = 1) {
    const args = ['--fleet', this.cluster.urls[node] ?? '', '--insecure'];
    return await ServerProcess.start({ command: 'gateway', args });
  }

  /** What the nodes use: megabytes each, and seconds of all together. */
  usage() {
    const pids = this.cluster.nodes.map(({ child }) => child?.pid);
    return { mb: pids.map(residentMb), cpuSeconds: sum(pids.map(cpuSeconds)) };
  }

  /** How many are connected to these nodes. */
  async connections(nodes) {
    return sum(await Promise.all(nodes.map((node) => this.#connectionsOf(node))));
  }

  async #connectionsOf({ child }) {
    const file = readdirSync(this.#ports).find((name) => name.endsWith(`_${child?.pid}.ports`));
    if (file === undefined) throw new Error('a node has not said where it can be asked');
    const { monitoring } = JSON.parse(readFileSync(join(this.#ports, file), 'utf8'));
    const answer = await fetch(`${monitoring[0]}/varz`);
    return /** @type {{ connections: number }} */ (await answer.json()).connections;
  }

  async stop() {
    await this.real.stop();
    await this.machines.stop();
    await this.cluster.stop();
  }
}
