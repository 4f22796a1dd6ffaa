import { setTimeout as delay } from 'node:timers/promises';
import { adoptOrphans, claimHost, type LocalProcess } from '../host/index.js';
import type { Channel } from '../rpc/index.js';
import { Connection } from './connection.js';
import { drainProcesses } from './drain.js';
import type { DurableOptions, DurableState } from './durable/durable-state.js';
import type { KeptDoors } from './durable/kept-doors.js';
import { passConnections, takePassed } from './durable/passed-connections.js';
import type { ConnectionRecord } from './durable/records.js';
import { Upgrades } from './durable/upgrades.js';
import type { AcceptOptions, ExecServerOptions, ServerStatus } from './exec-server-options.js';
import { closeParts, openParts, type ServerParts } from './server-parts.js';
import type { Share } from './shares.js';

/**
 * For telling clients how their programs ended, and again for their goodbyes. Clients that do not read are cut off after this.
 */
const GOODBYE_MS = 1_000;

/** Runs processes for its clients. Works on channels, however they were established. */
export class ExecServer implements AsyncDisposable {
  readonly #parts: ServerParts;
  readonly #connections = new Set<Connection>();
  /** While true, nothing new is started. Running processes continue, and can be used as before. */
  isDraining = false;
  readonly #http: boolean;
  readonly #releaseHost = claimHost();
  readonly #upgrades: Upgrades | null;
  #doors: KeptDoors | undefined;
  /** The handshake of a connection that is being continued. */
  #continued: ConnectionRecord['handshake'] = null;
  readonly #timeRequest: ExecServerOptions['timeRequest'];
  #closing: Promise<void> | undefined;

  constructor(options: ExecServerOptions = {}) {
    if (options.adoptOrphans) adoptOrphans();
    this.#timeRequest = options.timeRequest;
    this.#http = options.http ?? true;
    this.#parts = openParts(options);
    const { durable } = this.#parts;
    this.#upgrades = options.durable && durable ? this.#upgradesOf(options.durable, durable) : null;
  }

  /** Serves one client. Resolves when its channel ends. */
  accept(channel: Channel, options: AcceptOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      const connection: Connection = new Connection({
        ...this.#parts,
        channel,
        // A viewer can attach again, so its session needs no time to be resumed.
        resumable: options.share === undefined && (options.resumable ?? true),
        door: options.door,
        handshake: this.#continued,
        principal: options.share ? `share:${options.share.id}` : options.principal,
        share: options.share,
        peer: options.peer ?? channel.label,
        timeRequest: this.#timeRequest,
        probe: options.probe ?? (() => undefined),
        introduced: options.introduced ?? (() => undefined),
        http: this.#http,
        isDraining: () => this.isDraining,
        upgrades: this.#upgrades,
        closed: () => {
          this.#connections.delete(connection);
          resolve();
        },
      });
      this.#connections.add(connection);
    });
  }

  /** Sessions, attached or not, and running processes. */
  usage(): { sessions: number; processes: number } {
    const sessions = this.#parts.sessions.all();
    const own = sessions.flatMap(({ processes }) => processes.all().filter(({ log }) => !log.closed));
    return { sessions: sessions.length, processes: own.length + this.#parts.keep.running() };
  }

  /**
   * The share that a token stands for: undefined if it is not the token of a share, null if the share is over or unknown. Pass
   * it to `accept`.
   */
  shareOf(token: string): Share | null | undefined {
    return this.#parts.shares.find(token);
  }

  /**
   * Declares it ready: from here on, what it leaves behind need not be readable by the previous version.
   *
   * @internal
   */
  settle(): void {
    this.#parts.durable?.journal.settle();
  }

  /** Its current load. */
  status(): ServerStatus {
    const processes = this.#running();
    return {
      connections: this.#connections.size,
      sessions: this.#parts.sessions.all().length,
      processes: processes.length,
      unsentBytes: [...this.#connections].reduce((sum, { unsentBytes }) => sum + unsentBytes, 0),
      unreadInputBytes: processes.reduce((sum, { queuedInputBytes }) => sum + queuedInputBytes, 0),
    };
  }

  /**
   * Starts nothing new and asks all processes to end: SIGTERM, and SIGHUP on a terminal, then SIGKILL after the grace
   * period. Resolves when they have ended. Clients stay connected and see how.
   */
  async drain({ graceMs }: { graceMs: number }): Promise<void> {
    this.isDraining = true;
    await drainProcesses(this.#running(), graceMs);
  }

  #running(): LocalProcess[] {
    const own = this.#parts.sessions.all().flatMap(({ processes }) => processes.all());
    return [...own, ...this.#parts.keep.processes()].filter(({ log }) => !log.closed);
  }

  /** Disconnects all clients and ends all sessions and all processes, kept ones too. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * The listeners that clients connect to. Continues with the connections of the previous server.
   *
   * @internal
   */
  openTo(doors: KeptDoors): void {
    this.#doors = doors;
    const { durable } = this.#parts;
    for (const { fd, record, unread, unsent } of durable ? takePassed(durable) : []) {
      // The listener calls `accept`.
      this.#continued = record.handshake;
      const { door, principal } = record;
      doors.adopt(door, fd, { unread, unsent, principal });
      this.#continued = null;
    }
    doors.welcomeArrived();
  }

  #upgradesOf({ succession }: DurableOptions, state: DurableState): Upgrades {
    return new Upgrades({
      succession,
      log: this.#parts.log,
      restDoors: async () => await this.#doors?.rest(),
      rest: () => Promise.all([...this.#connections].map((connection) => connection.rest())),
      isAtRest: () => [...this.#connections].every(({ isAtRest }) => isAtRest),
      handOver: () => {
        passConnections(state, this.#connections);
        this.#doors?.handOver();
      },
    });
  }

  async #shutDown(): Promise<void> {
    await inTime(Promise.all([...this.#connections].map((connection) => connection.pushed())));
    const goodbyes = [...this.#connections].map((connection) =>
      connection.close('the server is shutting down'),
    );
    await closeParts(this.#parts);
    // A process that exits with unread input resets its connections, and clients lose what they had not read yet.
    await inTime(Promise.all(goodbyes));
    this.#releaseHost();
  }
}

async function inTime(work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const limit = delay(GOODBYE_MS, undefined, { signal: done.signal });
  await Promise.race([work, limit]).finally(() => done.abort());
}
