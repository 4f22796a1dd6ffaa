import { setTimeout as pause } from 'node:timers/promises';
import { dialWebSocket } from '../../dist/client/index.js';
import { Fleet } from '../../dist/fleet/index.js';
import { NatsCluster } from '../../testkit/nats-cluster.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { DurableSubject } from './durable-subject.mjs';

const MACHINE = 'machine';
const GATEWAYS = 2;
/** Sessions outlive any fault here: a stopped node costs three seconds, and another one may follow. */
export const FLEET_TTL_SECONDS = 30;

/** A fleet of one machine, three NATS nodes and two gateways. Of each kind, one at a time may be lost. */
export class FleetSubject {
  #cluster;
  #machine;
  #gateways;
  #fleet;
  #dialled = 0;
  /** @type {Map<string, Promise<void>>} */
  #faults = new Map();

  /**
   * @param {NatsCluster} cluster
   * @param {DurableSubject} machine
   * @param {ServerProcess[]} gateways
   * @param {Fleet} fleet
   * @private
   */
  constructor(cluster, machine, gateways, fleet) {
    this.#cluster = cluster;
    this.#machine = machine;
    this.#gateways = gateways;
    this.#fleet = fleet;
    process.once('exit', () => {
      for (const { child } of [...cluster.nodes, ...this.#gateways]) child?.kill('SIGKILL');
    });
  }

  static async start() {
    const cluster = await NatsCluster.start({ jetStream: false });
    const where = ['--fleet', cluster.urls.join(','), '--insecure'];
    const args = [...where, '--name', MACHINE];
    const machine = await DurableSubject.start(undefined, { args, ttlSeconds: FLEET_TTL_SECONDS });
    const gateways = await Promise.all(
      Array.from({ length: GATEWAYS }, () => ServerProcess.start({ command: 'gateway', args: where })),
    );
    const fleet = await Fleet.connect({ servers: cluster.urls });
    machine.dial = () => fleet.dial(MACHINE);
    return new FleetSubject(cluster, machine, gateways, fleet);
  }

  get died() {
    return this.#machine.died;
  }

  /** Reaches the machine directly, or through one gateway after the other. */
  dial(way) {
    if (way === 'fleet') return this.#fleet.dial(MACHINE);
    this.#dialled += 1;
    return dialWebSocket(`${this.#gateways[this.#dialled % GATEWAYS]?.url}/e/${MACHINE}`, {
      livenessTickMs: 200,
      connectTimeoutMs: 2_000,
    });
  }

  /** For a client that cannot choose. */
  get gatewayUrl() {
    return `${this.#gateways[0]?.url}/e/${MACHINE}`;
  }

  killServer() {
    return this.#machine.killServer();
  }

  freeze(forMs) {
    return this.#machine.freeze(forMs);
  }

  killNode(forMs) {
    return this.#alone('node', async () => {
      const node = this.#anyNode();
      await this.#cluster.kill(node);
      await pause(forMs);
      await this.#cluster.restart(node);
    });
  }

  stopNode(forMs) {
    return this.#alone('node', async () => {
      const node = this.#anyNode();
      this.#cluster.signal(node, 'SIGSTOP');
      await pause(forMs);
      this.#cluster.signal(node, 'SIGCONT');
    });
  }

  killGateway() {
    return this.#alone('gateway', async () => {
      const index = Math.floor(Math.random() * GATEWAYS);
      await this.#gateways[index]?.stop('SIGKILL');
      const where = ['--fleet', this.#cluster.urls.join(','), '--insecure'];
      this.#gateways[index] = await ServerProcess.start({ command: 'gateway', args: where });
    });
  }

  stopGateway(forMs) {
    return this.#alone('gateway', async () => {
      const pid = this.#gateways[Math.floor(Math.random() * GATEWAYS)]?.pid ?? -1;
      signalOne(pid, 'SIGSTOP');
      await pause(forMs);
      signalOne(pid, 'SIGCONT');
    });
  }

  async stop() {
    try {
      await Promise.all(this.#gateways.map((gateway) => gateway.stop()));
      await this.#machine.stop();
    } finally {
      await this.#fleet.close();
      await this.#cluster.stop();
    }
  }

  #anyNode() {
    const { nodes } = this.#cluster;
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    if (!node) throw new Error('no node');
    return node;
  }

  /** One fault of a kind at a time: what is promised is to survive the loss of any one. */
  #alone(kind, fault) {
    const done = (this.#faults.get(kind) ?? Promise.resolve()).then(fault);
    this.#faults.set(
      kind,
      done.catch(() => undefined),
    );
    return done;
  }
}
