import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ServerResources } from '../harness/server-resources.mjs';
import { pause } from './fault-proxy.mjs';

const bin = fileURLToPath(new URL('../../bin/execwire.js', import.meta.url));
const POLL_MS = 20;

/** How long sessions outlive their connections here: longer than any fault, shorter than anybody's patience. */
export const SESSION_TTL_SECONDS = 8;

/** The server all scenarios share, and what can be seen of it from outside. */
export class Subject {
  #child;
  #resources = new ServerResources();
  #frozen = 0;
  #stopping = false;
  url = '';
  /** Set when the server ended by itself. */
  died;

  static async start({ ttlSeconds = SESSION_TTL_SECONDS, args: more = [] } = {}) {
    const subject = new Subject();
    const args = [bin, 'serve', '--log-level', 'silent', '--session-ttl', String(ttlSeconds), ...more];
    subject.#child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...subject.#resources.env },
    });
    subject.#resources.pid = subject.#child.pid;
    // Whatever ends the runner, a bug of its own included, must not leave the server behind.
    process.once('exit', () => subject.#child.kill('SIGKILL'));
    subject.#child.on('exit', (code, signal) => {
      if (!subject.#stopping) subject.died = `the server ended by itself: ${signal ?? code}`;
    });
    [subject.url] = await once(createInterface({ input: subject.#child.stdout }), 'line');
    return subject;
  }

  /** Holds the whole server up, as a busy or sleeping machine does. */
  async freeze(forMs) {
    this.#frozen += 1;
    this.#child.kill('SIGSTOP');
    await pause(forMs);
    this.#frozen -= 1;
    if (this.#frozen === 0) this.#child.kill('SIGCONT');
  }

  /** What it holds: descriptors, children (dead ones included), timers, handles, and memory after a collection. */
  async holdings() {
    if (this.died) throw new Error(this.died);
    const inside = await this.#resources.inside();
    const { descriptors, children } = this.#resources;
    return { descriptors, children: children.length, ...inside };
  }

  async stop() {
    this.#stopping = true;
    this.#child.kill('SIGCONT');
    this.#child.kill('SIGTERM');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
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
