import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { ServerResources } from '../harness/server-resources.mjs';

const POLL_MS = 20;

/** How long sessions outlive their connections here: longer than any fault, shorter than anybody's patience. */
export const SESSION_TTL_SECONDS = 8;

/** The server all scenarios share, and what can be seen of it from outside. */
export class Subject {
  #server;
  #resources;
  #frozen = 0;

  /**
   * @param {ServerProcess} server
   * @param {ServerResources} resources
   * @private
   */
  constructor(server, resources) {
    this.#server = server;
    this.#resources = resources;
    resources.pid = server.pid;
    // Whatever ends the runner, a bug of its own included, must not leave the server behind.
    process.once('exit', () => server.child.kill('SIGKILL'));
  }

  static async start({ ttlSeconds = SESSION_TTL_SECONDS, args: more = /** @type {string[]} */ ([]) } = {}) {
    const resources = new ServerResources();
    const args = ['--log-level', 'silent', '--session-ttl', String(ttlSeconds), ...more];
    return new Subject(await ServerProcess.start({ args, env: resources.env }), resources);
  }

  get url() {
    return this.#server.url;
  }

  /** Says so once the server has ended by itself. */
  get died() {
    if (this.#server.isAlive) return undefined;
    return `the server ended by itself: ${this.#server.child.signalCode ?? this.#server.child.exitCode}`;
  }

  /** Holds the whole server up, as a busy or sleeping machine does. */
  async freeze(forMs) {
    this.#frozen += 1;
    this.#server.child.kill('SIGSTOP');
    await pause(forMs);
    this.#frozen -= 1;
    if (this.#frozen === 0) this.#server.child.kill('SIGCONT');
  }

  /** What it holds: descriptors, children (dead ones included), timers, handles, and memory after a collection. */
  async holdings() {
    if (this.died) throw new Error(this.died);
    const inside = await this.#resources.inside();
    const { descriptors, children } = this.#resources;
    return { descriptors, children: children.length, ...inside };
  }

  async stop() {
    this.#server.child.kill('SIGCONT');
    await this.#server.stop();
    this.#resources[Symbol.dispose]();
  }
}

/** Pids of running processes whose environment holds the text. Zombies have no environment any more. */
export function pidsWithMark(mark) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

/** Polls until `probe` holds; rejects with what it last said. */
export async function settles(what, limitMs, probe) {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const objection = await probe();
    if (objection === undefined) return;
    if (Date.now() > deadline) throw new Error(`${what}: ${objection}`);
    await pause(POLL_MS * 5);
  }
}
