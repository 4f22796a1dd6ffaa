import { sendMessage, socketPair } from '../host/kernel/index.js';
import { DescriptorScope, type Lineage, ledgerFile, posixSpawn, watchExit } from '../host/spawn/parent.js';
import { Inbox } from './inbox.js';
import {
  KEEPER_FD,
  KEEPER_VARIABLE,
  LEDGER_FD,
  type Predecessor,
  type ToKeeper,
  type ToServer,
} from './messages.js';

/** How to start a server. */
export interface ServerCommand {
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** The facts a server receives through its environment. */
export interface KeeperFacts extends Lineage {
  /** The number of this server, counted from 1. */
  readonly generation: number;
  /** The number of listening sockets that were passed to us. */
  readonly passedSockets: number;
  readonly keeperVersion: number;
  /** The keeper takes a bell. Older ones read every message as it arrives. */
  readonly takesBell?: boolean;
  /** The running server, if this one is to replace it. */
  readonly predecessor?: Predecessor;
  /** Why the last upgrade failed, if this server was started instead of the new one. */
  readonly failedUpgrade?: string;
}

export interface ServerEvents {
  message(message: ToKeeper, descriptors: readonly number[]): void;
  /** Called once, after all messages it sent. */
  ended(status: number): void;
}

/** One server, from its start to its end. */
export class ServerProcess {
  readonly pid: number;
  readonly #socket: number;
  readonly #events: ServerEvents;
  readonly #inbox: Inbox;
  #running = true;

  /** Throws if it cannot be started. */
  constructor(command: ServerCommand, facts: KeeperFacts, events: ServerEvents) {
    this.#events = events;
    const [near, far] = socketPair();
    this.#socket = near;
    this.pid = start(command, facts, far);
    this.#inbox = new Inbox(near, (message, descriptors) => events.message(message, descriptors));
    watchExit(this.pid, { keepAlive: true, exited: (status) => this.#ended(status) });
  }

  /** Returns false if there is no room for the message now. */
  send(message: ToServer, descriptors: readonly number[] = []): boolean {
    return this.#inbox.open && sendMessage(this.#socket, JSON.stringify(message), descriptors);
  }

  /** Kills it. It may have ended already. */
  kill(): void {
    if (this.#running) process.kill(this.pid, 'SIGKILL');
  }

  /** Messages it sent before it died can still be read. */
  #ended(status: number): void {
    this.#running = false;
    this.#inbox.read();
    this.#inbox.close();
    this.#events.ended(status);
  }
}

/** The server gets its own process group, so that signals from a terminal reach it only through us. */
function start({ path, argv, env, cwd }: ServerCommand, facts: KeeperFacts, socket: number): number {
  using scope = new DescriptorScope();
  scope.own(socket);
  const ledger = ledgerFile();
  const inheritFds = [
    { childFd: KEEPER_FD, fd: socket },
    ...(ledger === null ? [] : [{ childFd: LEDGER_FD, fd: ledger }]),
  ];
  const started = posixSpawn(
    {
      path,
      argv,
      cwd,
      env: { ...env, [KEEPER_VARIABLE]: JSON.stringify(facts) },
      streams: { kind: 'pipes', stdin: null, stdout: 1, stderr: 2 },
      inheritFds,
    },
    scope,
  );
  if ('errno' in started) throw new Error(`the server cannot be started (${started.errno})`);
  return started.pid;
}
