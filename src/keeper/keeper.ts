import { libc, linux } from '../host/kernel/index.js';
import {
  createLineage,
  dismissWatchdog,
  ensureWatchdog,
  inheritMarks,
  marksAvailable,
  reapEverything,
} from '../host/spawn/parent.js';
import { DescriptorStore } from './descriptor-store.js';
import { LISTENERS, type ToKeeper } from './messages.js';
import { notifyManager } from './service-manager.js';
import { Restarts } from './restarts.js';
import { type ServerCommand, ServerProcess } from './server-process.js';

/** Sent at once, so that the socket has room for them. */
const BATCH = 32;
/** When to try again to tell the server something it had no room for. */
const RETRY_MS = 20;
const FAILURE = 1;

/**
 * Starts a server, and starts it again when it dies. Holds what must not die with it: descriptors, and the exit statuses
 * of programs whose parent was a server that is gone. Knows nothing of what a server does.
 */
export class Keeper {
  readonly #command: ServerCommand;
  readonly #passedSockets: number;
  readonly #lineage = createLineage();
  readonly #store = new DescriptorStore();
  readonly #restarts = new Restarts();
  /** Statuses that no server has recorded yet, by pid. */
  readonly #ended = new Map<number, number>();
  /** Of these, the running server has not been told. */
  readonly #untold = new Set<number>();
  #server: ServerProcess | undefined;
  /** What the running server has yet to get; null once it has everything. */
  #due: string[] | null = null;
  #generation = 0;
  #isReady = false;
  #wasEverReady = false;
  #stopping = false;
  #retry: NodeJS.Timeout | undefined;

  /** `sockets`: what the server is to listen on, if they are open already. */
  constructor(command: ServerCommand, sockets: readonly number[] = []) {
    this.#command = command;
    const names = sockets.map((_, index) => String(index));
    if (sockets.length > 0) this.#store.hold(LISTENERS, names, sockets);
    this.#passedSockets = sockets.length;
  }

  run(): void {
    inheritMarks({ nonce: this.#lineage.nonce, lastTreeId: 0 });
    if (!marksAvailable() || libc().prctl(linux.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0)
      return this.#giveUp('this machine offers no way to find the programs of a dead server');
    reapEverything((pid, status) => {
      this.#ended.set(pid, status);
      this.#untold.add(pid);
      this.#tell();
    });
    ensureWatchdog();
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#stop());
    this.#start();
  }

  #start(): void {
    this.#generation += 1;
    this.#isReady = false;
    this.#due = [...this.#store.entries.keys()];
    try {
      const facts = {
        ...this.#lineage,
        generation: this.#generation,
        passedSockets: this.#passedSockets,
      };
      this.#server = new ServerProcess(this.#command, facts, {
        message: (message, descriptors) => this.#heard(message, descriptors),
        ended: (status) => this.#died(status),
      });
    } catch (error) {
      this.#giveUp(error instanceof Error ? error.message : String(error));
    }
  }

  #heard(message: ToKeeper, descriptors: readonly number[]): void {
    switch (message.op) {
      case 'hold':
        return this.#store.hold(message.key, message.names, descriptors);
      case 'letGo':
        return this.#store.letGo(message.key, message.name);
      case 'spoil':
        return this.#store.spoil(message.key);
      case 'recorded':
        this.#ended.delete(message.pid);
        this.#untold.delete(message.pid);
        return;
      case 'next':
        return this.#hand();
      case 'ready':
        this.#isReady = true;
        if (!this.#wasEverReady) notifyManager('READY=1');
        this.#wasEverReady = true;
        return;
    }
  }

  /** Some of what earlier servers left. */
  #hand(): void {
    const batch = this.#due?.splice(0, BATCH) ?? [];
    for (const key of batch) {
      const held = this.#store.entries.get(key);
      if (!held) continue;
      const { descriptors, spoiled } = held;
      this.#server?.send({ op: 'held', key, names: [...descriptors.keys()], spoiled }, [
        ...descriptors.values(),
      ]);
    }
    if (this.#due && this.#due.length > 0) {
      this.#server?.send({ op: 'more' });
      return;
    }
    this.#due = null;
    this.#server?.send({ op: 'all' });
    for (const pid of this.#ended.keys()) this.#untold.add(pid);
    this.#tell();
  }

  /** A server that has not everything yet is told later. */
  #tell(): void {
    clearTimeout(this.#retry);
    if (this.#due !== null) return;
    for (const pid of this.#untold) {
      const status = this.#ended.get(pid) ?? 0;
      if (!this.#server?.send({ op: 'ended', pid, status })) {
        this.#retry = setTimeout(() => this.#tell(), RETRY_MS);
        return;
      }
      this.#untold.delete(pid);
    }
  }

  #stop(): void {
    this.#stopping = true;
    notifyManager('STOPPING=1');
    if (this.#server) process.kill(this.#server.pid, 'SIGTERM');
  }

  #died(status: number): void {
    this.#server = undefined;
    const wasKilled = (status & 0x7f) !== 0;
    const code = (status >> 8) & 0xff;
    if (status === 0) dismissWatchdog();
    // In good order; or it was to stop; or it said why it cannot serve at all. The watchdog ends what is left.
    if (status === 0 || this.#stopping || (!this.#wasEverReady && !wasKilled)) process.exit(code);
    const reason = this.#restarts.died({ wasReady: this.#isReady, at: performance.now() });
    if (reason !== null) return this.#giveUp(reason);
    process.stderr.write(`execwire: the server died (${describe(status)}); starting it again\n`);
    this.#start();
  }

  #giveUp(reason: string): void {
    process.stderr.write(`execwire: giving up: ${reason}. Everything it ran is ended.\n`);
    process.exit(FAILURE);
  }
}

function describe(status: number): string {
  const signal = status & 0x7f;
  return signal === 0 ? `exit code ${(status >> 8) & 0xff}` : `signal ${signal}`;
}
