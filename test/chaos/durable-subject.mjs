import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { dialWebSocket, ExecClient } from '../../dist/client/index.js';
import { namedSandbox } from '../../dist/policy/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { SESSION_TTL_SECONDS, settles } from './subject.mjs';

const GONE_LIMIT_MS = 15_000;

/** A server with a keeper, which may be killed, and a folder for the work of its programs. */
export class DurableSubject {
  /** Its programs work here. */
  folder;
  /** What its programs may reach under rules for hosts, and what not. */
  sites;
  /** Reaches it. @type {() => Promise<import('../../dist/transport/index.js').Channel>} */
  dial = () => dialWebSocket(this.url);
  #state;
  #changes;
  #keeper;
  #upgrading = Promise.resolve();

  /**
   * @param {ServerProcess} keeper
   * @param {string} folder
   * @param {{ allowed: string, denied: string } | undefined} sites
   * @private
   */
  constructor(keeper, folder, sites) {
    this.#keeper = keeper;
    this.sites = sites;
    this.folder = join(folder, 'work');
    this.#state = join(folder, 'state');
    this.#changes = join(folder, 'changes');
    process.once('exit', () => keeper.child.kill('SIGKILL'));
  }

  /**
   * @param {{ allowed: string, denied: string }} [sites]
   * @param {{ args?: string[], ttlSeconds?: number }} [options]
   */
  static async start(sites, { args: more = [], ttlSeconds = SESSION_TTL_SECONDS } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'execwire-death-'));
    const args = ['--durable', join(folder, 'state'), '--log-level', 'silent'];
    args.push('--session-ttl', String(ttlSeconds), '--changes-dir', join(folder, 'changes'), ...more);
    return new DurableSubject(await ServerProcess.start({ args }), folder, sites);
  }

  get url() {
    return this.#keeper.url;
  }

  get died() {
    return this.#keeper.isAlive ? undefined : `the keeper ended by itself: ${this.#keeper.stderr}`;
  }

  /** A policy that lets programs write in the folder, with what else is to be around them; undefined for nothing at all. */
  sandbox(around) {
    if (around === undefined || around === 'nothing') return undefined;
    const network =
      around === 'rules' ? { network: { allow: [new URL(this.sites?.allowed ?? '').host] } } : {};
    const sandbox = namedSandbox({ policy: 'workspace-write', ...network }, { workspace: this.folder });
    return around === 'held' ? { ...sandbox, changes: 'hold' } : sandbox;
  }

  killServer() {
    for (const pid of this.#servers()) signalOne(pid, 'SIGKILL');
  }

  async freeze(forMs) {
    await this.#stopped(this.#servers(), forMs);
  }

  async freezeKeeper(forMs) {
    await this.#stopped([this.#keeper.pid], forMs);
  }

  /** One at a time. An upgrade may fail, if something else happens to its server; nothing else may. */
  upgrade() {
    this.#upgrading = this.#upgrading.then(() => this.#upgrade());
    return this.#upgrading;
  }

  async killKeeper() {
    await this.#keeper.stop('SIGKILL');
  }

  /** Ends it in good order. Rejects if it leaves anything behind. */
  async stop() {
    // A server that has just died cannot tidy up.
    await this.#answers();
    const code = await this.#keeper.stop();
    if (code !== 0) throw new Error(`the keeper ended with ${code}: ${this.#keeper.stderr}`);
    const left = [this.#state, this.#changes].flatMap(filesIn).filter((name) => name !== 'lock');
    this.discard();
    if (left.length > 0) throw new Error(`files are left: ${left.join(' ')}`);
  }

  discard() {
    rmSync(join(this.#state, '..'), { recursive: true, force: true });
  }

  /** Resolves when there is a server. */
  async #answers() {
    for (;;) {
      try {
        const client = await ExecClient.connect({ dial: () => this.dial(), resume: false });
        return await client.close();
      } catch {
        await pause(20);
      }
    }
  }

  async #upgrade() {
    try {
      const client = await ExecClient.connect({ dial: () => this.dial(), resume: false });
      try {
        await client.call('server/upgrade', {});
      } finally {
        await client.close();
      }
    } catch (error) {
      const expected = ['connectionClosed', 'notConnected', 'upgradeRefused', 'requestTimeout'];
      if (!expected.includes(/** @type {{ code?: string }} */ (error).code ?? '')) throw error;
    }
  }

  /** The running server, and its successor if there is one. */
  #servers() {
    const path = `/proc/${this.#keeper.pid}/task/${this.#keeper.pid}/children`;
    const children = readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    return children.filter((pid) => commandOf(pid).includes('--durable'));
  }

  async #stopped(pids, forMs) {
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await pause(forMs);
    for (const pid of pids) signal(pid, 'SIGCONT');
  }

  /** Resolves when nothing of its programs is left. */
  static async gone(find) {
    await settles('processes are left', GONE_LIMIT_MS, () => {
      const pids = find();
      return pids.length === 0 ? undefined : pids.join(' ');
    });
  }
}

/** It may be gone by now. */
function signal(pid, name) {
  try {
    signalOne(pid, name);
  } catch {
    // Then there is nothing to stop or continue.
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
