import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { methodsIn, type SchemaFileName } from '../harness/schema-file.js';
import type { Schema } from '../harness/schema-values.js';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { ServerResources } from '../harness/server-resources.mjs';

/** What a server may hold more after much work than after a little: caches of the runtime, nothing per request. */
const MEMORY_SLACK_BYTES = 16 * 1024 * 1024;
const POLL_MS = 50;
/** Leases end after a second, trees die at once: far more than both, on a busy machine. */
const SETTLE_LIMIT_MS = 20_000;

/** The parameters of every request in a generated schema. */
export function schemasOf(file: SchemaFileName): Record<string, Schema> {
  const { requests } = methodsIn<Schema>(file);
  return Object.fromEntries(Object.entries(requests).map(([name, { params }]) => [name, params]));
}

interface Holdings {
  readonly descriptors: number;
  readonly timers: number;
  readonly heldBytes: number;
}

/** A server that works in a fresh folder and can be asked what it holds. */
export class FuzzedServer implements AsyncDisposable {
  readonly folder = new TestFolder();
  readonly unix = `unix://${this.folder.file('socket')}`;
  readonly #resources = new ServerResources();
  #process: ServerProcess | undefined;
  #idle: Holdings | undefined;

  async start(): Promise<void> {
    const args = [
      '--log-level',
      'silent',
      '--keep-ended',
      '1',
      '--session-ttl',
      '1',
      '--listen',
      'ws://127.0.0.1:0',
      '--listen',
      this.unix,
    ];
    const env = { ...this.#resources.env, HOME: this.folder.path };
    this.#process = await ServerProcess.start({ args, env, cwd: this.folder.path });
    this.#resources.pid = this.#process.pid;
  }

  get url(): string {
    return this.#process?.url ?? '';
  }

  /** Remembers what is held now, once all that belonged to somebody is gone. */
  async rememberIdle(): Promise<void> {
    let before = await this.#settled();
    for (;;) {
      const now = await this.#settled();
      if (now.descriptors === before.descriptors) break;
      before = now;
    }
    this.#idle = before;
  }

  /** Waits until no more is held than then. */
  async returnsToIdle(): Promise<void> {
    const idle = this.#idle ?? (await this.#settled());
    await holds('the server kept something', async () => excess(await this.#settled(), idle));
  }

  /** What it holds when nothing of a client runs any more. */
  async #settled(): Promise<Holdings> {
    await noneWorksIn(this.folder.path);
    const { timers, heldBytes } = await this.#resources.inside();
    return { descriptors: this.#resources.descriptors, timers, heldBytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process?.stop();
    this.#resources[Symbol.dispose]();
    this.folder[Symbol.dispose]();
  }
}

/** What is held beyond what was, as text; empty when nothing is. */
function excess(now: Holdings, idle: Holdings): string {
  const more = [
    now.descriptors > idle.descriptors && 'descriptors',
    now.timers > idle.timers && 'timers',
    now.heldBytes > idle.heldBytes + MEMORY_SLACK_BYTES && 'memory',
  ].filter(Boolean);
  return more.length === 0 ? '' : `${more.join(', ')}: ${JSON.stringify({ now, idle })}`;
}

/** Looks again and again until there is no objection. */
async function holds(what: string, objection: () => Promise<string> | string): Promise<void> {
  const deadline = Date.now() + SETTLE_LIMIT_MS;
  for (;;) {
    const said = await objection();
    if (said === '') return;
    if (Date.now() > deadline) throw new Error(`${what}: ${said}`);
    await pause(POLL_MS);
  }
}

/** Waits until no process but servers works in a folder. Whatever was started there was started in it. */
export async function noneWorksIn(folder: string): Promise<void> {
  await holds('still running', () => programsIn(folder).join(' '));
}

function programsIn(folder: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      const inside = readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      return inside && !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('execwire.js');
    } catch {
      return false;
    }
  });
}
