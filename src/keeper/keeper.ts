import { libc, linux } from '../host/kernel/index.js';
import {
  createLineage,
  dismissWatchdog,
  ensureWatchdog,
  inheritMarks,
  marksAvailable,
  reapEverything,
} from '../host/spawn/parent.js';
import { DescriptorReserve } from './descriptor-reserve.js';
import { DescriptorStore } from './descriptor-store.js';
import { Exits } from './exits.js';
import { KEEPER_VERSION, LISTENERS, type Predecessor, type ToKeeper, type ToServer } from './messages.js';
import { notifyManager } from './service-manager.js';
import { Restarts } from './restarts.js';
import { type ServerCommand, ServerProcess } from './server-process.js';
import type { StoredListeners } from './stored-listeners.js';
import { Succession } from './succession.js';

/** Keys sent at a time; the socket has room for them. */
const BATCH = 32;
/** The delay before a message is sent again that the server had no room for. */
const RETRY_MS = 20;
const FAILURE = 1;

/** Sockets for servers to listen on that are already open. */
export interface KeeperSockets {
  /** Opened by the service manager, which keeps them. */
  readonly activated: readonly number[];
  /** Opened by servers of an earlier keeper, by name. */
  readonly stored: ReadonlyMap<string, number>;
  readonly listeners: StoredListeners;
}

/**
 * Starts a server, and restarts it when it dies. Holds what must survive it: descriptors, and the exit statuses of programs
 * whose parent server is gone. Knows nothing about what a server does.
 */
export class Keeper {
  #command: ServerCommand;
  readonly #passedSockets: number;
  readonly #listeners: StoredListeners;
  readonly #lineage = createLineage();
  readonly #store = new DescriptorStore();
  readonly #reserve = new DescriptorReserve();
  readonly #restarts = new Restarts();
  readonly #exits = new Exits((message) => this.#server?.send(message) ?? false);
  #server: ServerProcess | undefined;
  #succession: Succession | undefined;
  /** Whether the running server is about to leave in favour of its successor. */
  #isLeaving = false;
  /** The command to return to if the server that has just taken over fails. */
  #fallback: ServerCommand | undefined;
  #failedUpgrade: string | undefined;
  /** The keys the running server has yet to receive; null once it has everything. */
  #due: string[] | null = null;
  #generation = 0;
  #isReady = false;
  #wasEverReady = false;
  #stopping = false;

  constructor(command: ServerCommand, { activated, stored, listeners }: KeeperSockets) {
    this.#command = command;
    this.#listeners = listeners;
    this.#passedSockets = activated.length;
    const open = new Map([...stored, ...activated.map((fd, index) => [String(index), fd] as const)]);
    if (open.size > 0) this.#store.hold(LISTENERS, [...open.keys()], [...open.values()]);
  }

  run(): void {
    inheritMarks({ nonce: this.#lineage.nonce, lastTreeId: 0 });
    if (!marksAvailable() || libc().prctl(linux.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0)
      return this.#giveUp('this machine offers no way to find the programs of a dead server');
    reapEverything((pid, status, usage) => this.#exits.add(pid, { status, usage }));
    ensureWatchdog();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#stop());
    process.on('SIGHUP', () => this.#reload());
    this.#start();
  }

  #start(): void {
    try {
      this.#server = this.#launch(this.#command);
    } catch (error) {
      return this.#giveUp(reasonOf(error));
    }
    this.#begin();
  }

  /** Begins handing over everything that is held, as the server asks for it. */
  #begin(): void {
    this.#isReady = false;
    this.#isLeaving = false;
    this.#exits.hold();
    this.#due = [...this.#store.entries.keys()];
  }

  /** Throws if it cannot be started. */
  #launch(command: ServerCommand, predecessor?: Predecessor): ServerProcess {
    this.#generation += 1;
    const facts = {
      ...this.#lineage,
      generation: this.#generation,
      passedSockets: this.#passedSockets,
      keeperVersion: KEEPER_VERSION,
      takesBell: true,
      ...(predecessor ? { predecessor } : {}),
      ...(this.#failedUpgrade === undefined ? {} : { failedUpgrade: this.#failedUpgrade }),
    };
    const server: ServerProcess = this.#reserve.use(
      () =>
        new ServerProcess(command, facts, {
          message: (message, descriptors) => {
            if (server === this.#server) this.#heard(message, descriptors);
            else if (server === this.#succession?.server) this.#succession.heard(message);
          },
          ended: (status) => this.#ended(server, status),
        }),
    );
    return server;
  }

  #heard(message: ToKeeper, descriptors: readonly number[]): void {
    switch (message.op) {
      case 'hold':
        if (message.key === LISTENERS) this.#listeners.keep(message.names, descriptors);
        return this.#store.hold(message.key, message.names, descriptors);
      case 'letGo':
        return this.#store.letGo(message.key, message.name);
      case 'spoil':
        return this.#store.spoil(message.key);
      case 'recorded':
        return this.#exits.recorded(message.pid);
      case 'next':
        return this.#hand();
      case 'ready':
        return this.#becameReady();
      case 'succeed':
        return this.#prepare(message);
      case 'dismiss':
        return this.#dismiss();
      case 'leave':
        this.#isLeaving = true;
        return;
      default:
    }
  }

  #becameReady(): void {
    this.#isReady = true;
    this.#fallback = undefined;
    if (!this.#wasEverReady) notifyManager('READY=1');
    this.#wasEverReady = true;
  }

  /** Sends a message, repeatedly if necessary, unless the server dies first. */
  #inform(message: ToServer): void {
    const server = this.#server;
    if (!server || server.send(message)) return;
    setTimeout(() => {
      if (server === this.#server) this.#inform(message);
    }, RETRY_MS);
  }

  /** Starts a successor beside the running server. */
  #prepare({ argv, predecessor }: { argv: readonly string[]; predecessor: Predecessor }): void {
    const tell = (message: ToServer): void => this.#inform(message);
    if (this.#succession) return tell({ op: 'unfit', reason: 'another upgrade is under way' });
    const [path = ''] = argv;
    const command = { ...this.#command, path, argv };
    this.#failedUpgrade = undefined;
    try {
      const server = this.#launch(command, predecessor);
      tell({ op: 'sibling', pid: server.pid });
      this.#succession = new Succession({ command, server, generation: this.#generation }, tell);
    } catch (error) {
      tell({ op: 'unfit', reason: reasonOf(error) });
    }
  }

  /** Hands over some of what earlier servers left. */
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
    this.#exits.release();
  }

  #stop(): void {
    this.#stopping = true;
    this.#dismiss();
    notifyManager('STOPPING=1');
    if (this.#server) process.kill(this.#server.pid, 'SIGTERM');
  }

  #ended(server: ServerProcess, status: number): void {
    if (server === this.#server) return this.#died(status);
    const succession = this.#succession;
    if (server !== succession?.server) return;
    this.#succession = undefined;
    succession.failed(describe(status));
  }

  /** Makes the server reload its files, or ends everything if our terminal is gone. */
  #reload(): void {
    if (process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY) this.#stop();
    else if (this.#server) process.kill(this.#server.pid, 'SIGHUP');
  }

  #died(status: number): void {
    this.#server = undefined;
    if (this.#isLeaving && !this.#stopping) return this.#succeed();
    // Its successor was prepared for a server that leaves in an orderly way.
    this.#dismiss();
    const wasKilled = (status & 0x7f) !== 0;
    if (status === 0) dismissWatchdog();
    // It ended normally, was told to stop, or reported why it cannot serve at all. The watchdog ends what is left.
    if (status === 0 || this.#stopping || (!this.#wasEverReady && !wasKilled)) {
      this.#listeners.drop();
      process.exit(exitCode(status));
    }
    const reason = this.#restarts.died({ wasReady: this.#isReady, at: performance.now() });
    if (reason !== null) return this.#giveUp(reason);
    process.stderr.write(`execwire: the server died (${describe(status)}); restarting it\n`);
    if (this.#fallback) this.#fallBack(describe(status), this.#fallback);
    this.#start();
  }

  #dismiss(): void {
    this.#succession?.server.kill();
    this.#succession = undefined;
  }

  /** Lets the successor take over from the server that has left. If it has failed in the meantime, starts another server. */
  #succeed(): void {
    const succession = this.#succession;
    this.#succession = undefined;
    if (!succession?.isPrepared) return this.#start();
    this.#fallback = this.#command;
    this.#command = succession.command;
    this.#server = succession.server;
    this.#begin();
    if (succession.asksForState) this.#hand();
  }

  #fallBack(how: string, command: ServerCommand): void {
    process.stderr.write('execwire: the upgrade failed; going back to the previous server\n');
    this.#failedUpgrade = `the new server died before it could be used (${how})`;
    this.#command = command;
    this.#fallback = undefined;
  }

  #giveUp(reason: string): void {
    process.stderr.write(`execwire: giving up: ${reason}. All its programs are ended.\n`);
    process.exit(FAILURE);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function exitCode(status: number): number {
  return (status >> 8) & 0xff;
}

function describe(status: number): string {
  const signal = status & 0x7f;
  return signal === 0 ? `exit code ${exitCode(status)}` : `signal ${signal}`;
}
