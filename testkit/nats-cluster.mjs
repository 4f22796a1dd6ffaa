import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { endChild } from './launch.mjs';

/** Servers are not in the PATH of a plain user. */
const program = process.env.NATS_SERVER ?? '/usr/sbin/nats-server';
/** Many times what a cluster needs on a busy machine. */
const READY_LIMIT_MS = 20_000;

/**
 * One node of a cluster.
 * @typedef {object} Node
 * @property {string} name
 * @property {number} port
 * @property {string} file Its configuration.
 * @property {import('node:child_process').ChildProcess | undefined} child
 */

/** A real NATS cluster on loopback, whose nodes can be killed, stopped and started again. */
export class NatsCluster {
  /** @type {Node[]} */
  nodes;
  #folder;

  /**
   * @param {Node[]} nodes
   * @param {string} folder
   * @private
   */
  constructor(nodes, folder) {
    this.nodes = nodes;
    this.#folder = folder;
  }

  /**
   * @param {{ size?: number, jetStream?: boolean, extra?: string }} [options] `extra` is added to each configuration.
   */
  static async start({ size = 3, jetStream = true, extra = '' } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'nats-cluster-'));
    const ports = await freePorts(size * 2);
    const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
    const nodes = ports.slice(0, size).map((port, index) => {
      const name = `node-${index}`;
      const file = join(folder, `${name}.conf`);
      mkdirSync(join(folder, name));
      const lines = [
        `server_name: ${name}`,
        `listen: 127.0.0.1:${port}`,
        `cluster { name: test, listen: 127.0.0.1:${ports[size + index]}, routes: [${routes.join(', ')}] }`,
        jetStream ? `jetstream { store_dir: "${join(folder, name)}", max_mem: 256M, max_file: 1G }` : '',
        extra,
      ];
      writeFileSync(file, lines.join('\n'));
      return { name, port, file, child: undefined };
    });
    const cluster = new NatsCluster(nodes, folder);
    await Promise.all(nodes.map((node) => cluster.restart(node)));
    return cluster;
  }

  get urls() {
    return this.nodes.map(({ port }) => `nats://127.0.0.1:${port}`);
  }

  /**
   * The node that listens on a port.
   * @param {string} address `HOST:PORT`
   */
  nodeAt(address) {
    const node = this.nodes.find(({ port }) => address.endsWith(`:${port}`));
    if (!node) throw new Error(`no node listens on ${address}`);
    return node;
  }

  /** @param {Node} node */
  async restart(node) {
    const child = spawn(program, ['-c', node.file], { stdio: 'ignore' });
    node.child = child;
    const running = this.nodes.filter(
      ({ child: each }) => each && each.exitCode === null && !each.signalCode,
    );
    await accepting(node.port, child, running.length);
  }

  /**
   * @param {Node} node
   * @param {NodeJS.Signals} signal
   */
  signal(node, signal) {
    node.child?.kill(signal);
  }

  /** @param {Node} node */
  async kill(node) {
    if (node.child) await endChild(node.child, 'SIGKILL');
  }

  async stop() {
    await Promise.all(this.nodes.map((node) => this.kill(node)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose]() {
    await this.stop();
  }
}

/** @param {number} count */
async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return servers.map((server) => {
    const address = server.address();
    server.close();
    return typeof address === 'object' && address ? address.port : 0;
  });
}

/**
 * @param {number} port
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} nodes How many of them must have found each other.
 */
async function accepting(port, child, nodes) {
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const [answer] = await Promise.race([
      once(socket, 'data').catch(() => []),
      once(socket, 'close').then(() => []),
    ]);
    socket.destroy();
    if (answer && knownNodes(answer) >= nodes) return;
    await pause(20);
  }
  throw new Error('nats-server did not become ready');
}

/**
 * A node greets with the nodes that clients may connect to.
 * @param {Buffer} greeting
 */
function knownNodes(greeting) {
  const [, json] = /^INFO (.*)\r\n/.exec(greeting.toString()) ?? [];
  const { connect_urls: urls = [] } = JSON.parse(json ?? '{}');
  return Math.max(1, urls.length);
}
