import { DEFAULT_WINDOW_BYTES, ServerInput } from '../contract/index.js';
import {
  adoptOrphans,
  claimHost,
  ChangeSets,
  ConfinableFileSystem,
  hideFromSandboxes,
  type LocalProcess,
  packageFile,
  reserveSpace,
} from '../host/index.js';
import type { NetworkDenial } from '../protocol/index.js';
import { KEPT_SESSION } from '../protocol/index.js';
import { ByteBudget, type Channel } from '../rpc/index.js';
import { ScreenRenderer } from '../screen/index.js';
import { Spool, type SpoolOptions } from '../spool/index.js';
import { BulkGarbage, type CollectGarbage } from './bulk-garbage.js';
import { Connection } from './connection.js';
import { drainProcesses } from './drain.js';
import { type DurableOptions, DurableState } from './durable/durable-state.js';
import type { KeptDoors } from './durable/kept-doors.js';
import { passConnections, takePassed } from './durable/passed-connections.js';
import type { ConnectionRecord } from './durable/records.js';
import { takeUpEverything } from './durable/take-up.js';
import { Upgrades } from './durable/upgrades.js';
import { Keep } from './keep.js';
import { type ServerLog, silentLog } from './log.js';
import { type ServerObserver, observeProcesses } from './server-events.js';
import { SessionRegistry } from './session-registry.js';
import { type Share, Shares } from './shares.js';

export interface ExecServerOptions {
  /** How long a session outlives its connection. Default 30 s. */
  readonly sessionTtlMs?: number | undefined;
  readonly maxSessions?: number | undefined;
  /** Processes per session. */
  readonly maxProcesses?: number | undefined;
  /** Processes with a lease, which outlive their sessions. Default 1,024. */
  readonly maxKeptProcesses?: number | undefined;
  /** How long a process with a lease can be read after its end. Default: an hour. */
  readonly keepEndedMs?: number | undefined;
  /** Output kept per process for late readers. Default 1 MiB. */
  readonly retainedBytes?: number | undefined;
  /** Whether clients may send HTTP requests from this machine. Default true. */
  readonly http?: boolean | undefined;
  /** Where output of processes goes whose clients ask for it. Default: nowhere, and such starts are refused. */
  readonly spool?: SpoolOptions | undefined;
  /** Where changes are held that policies ask for. Default: nowhere, and such starts are refused. */
  readonly changesDirectory?: string | undefined;
  /** Called when a lot of garbage has accumulated. Default: none; the engine decides when to collect. */
  readonly collectGarbage?: CollectGarbage | undefined;
  /**
   * Make orphaned descendants children of this process, permanently, and reap them here. Without this, whatever `su`
   * and similar programs leave in the background outlives its session. Only for a process that does nothing else.
   * Default false.
   */
  readonly adoptOrphans?: boolean | undefined;
  readonly log?: ServerLog | undefined;
  /** Told how long requests took, in seconds. */
  readonly timeRequest?: ((method: string, seconds: number) => void) | undefined;
  /** Told of refused clients, sessions, and starts and ends of processes. */
  readonly observe?: ServerObserver | undefined;
  /**
   * Continues where an earlier server ended, and leaves enough for the next one. Needs a spool.
   *
   * @internal
   */
  readonly durable?: DurableOptions | undefined;
}

/** What a server does at one moment. */
export interface ServerStatus {
  readonly connections: number;
  readonly sessions: number;
  /** Running ones, kept ones included. */
  readonly processes: number;
  /** What clients have not taken yet. */
  readonly unsentBytes: number;
  /** Input that programs have not read yet. */
  readonly unreadInputBytes: number;
}

/** Facts about a channel that it cannot report itself. */
export interface AcceptOptions {
  /** False if the client cannot reconnect: the session then ends with the connection. Default true. */
  readonly resumable?: boolean;
  /**
   * Who the client is. Processes that outlive their session are known to clients with the same name only. Absent: this
   * client cannot have such processes.
   */
  readonly principal?: string | undefined;
  /** By which the client views one process, from `shareOf`. It may then do nothing else, whoever it is. */
  readonly share?: Share | undefined;
  /** Where the client connects from, for the log. */
  readonly peer?: string | undefined;
  /** Makes the other side prove that it is alive. */
  readonly probe?: () => void;
  /** Called once the client has a session. */
  readonly introduced?: () => void;
  /**
   * The number of the address it came in at.
   *
   * @internal
   */
  readonly door?: number;
}

/** Runs processes for its clients. Works on channels, however they were established. */
export class ExecServer implements AsyncDisposable {
  readonly #sessions: SessionRegistry;
  readonly #keep: Keep;
  readonly #connections = new Set<Connection>();
  /** While true, nothing new is started. What runs goes on, and can be used as before. */
  isDraining = false;
  readonly #log: ServerLog;
  readonly #windowBytes: number;
  readonly #http: boolean;
  readonly #files = new ConfinableFileSystem();
  readonly #garbage: BulkGarbage;
  readonly #releaseHost = claimHost();
  readonly #budget = new ByteBudget();
  readonly #renderer = new ScreenRenderer(packageFile('dist/screen/worker.js'));
  readonly #spool: Spool | null;
  readonly #changes: ChangeSets | null;
  readonly #durable: DurableState | null;
  readonly #upgrades: Upgrades | null;
  readonly #shares: Shares;
  #doors: KeptDoors | undefined;
  /** The handshake of a connection that is being continued. */
  #continued: ConnectionRecord['handshake'] = null;
  readonly #observe: ServerObserver;
  readonly #timeRequest: ExecServerOptions['timeRequest'];
  #closing: Promise<void> | undefined;

  constructor(options: ExecServerOptions = {}) {
    if (options.adoptOrphans) adoptOrphans();
    this.#log = options.log ?? silentLog;
    this.#timeRequest = options.timeRequest;
    this.#observe = options.observe ?? (() => undefined);
    this.#http = options.http ?? true;
    this.#spool = openSpool(options.spool, this.#log);
    this.#durable =
      options.durable && this.#spool
        ? new DurableState(options.durable, { spool: this.#spool, log: this.#log })
        : null;
    this.#shares = new Shares(this.#log, this.#durable);
    this.#upgrades =
      options.durable && this.#durable ? this.#upgradesOf(options.durable, this.#durable) : null;
    this.#changes = openChanges(options.changesDirectory, this.#files);
    this.#garbage = new BulkGarbage(options.collectGarbage);
    this.#windowBytes = Math.min(options.retainedBytes ?? DEFAULT_WINDOW_BYTES, DEFAULT_WINDOW_BYTES);
    const { retainedBytes, maxKeptProcesses, keepEndedMs } = options;
    const log = this.#log;
    const table = {
      retainedBytes,
      windowBytes: this.#windowBytes,
      recycled: true,
      onNetworkDenied: (process: string, denial: NetworkDenial) =>
        log.info({ process, ...denial }, 'the network policy denied a host'),
    };
    const changes = this.#changes;
    const observed = { ...table, ...observeProcesses(this.#observe, KEPT_SESSION) };
    this.#keep = new Keep({
      table: observed,
      changes,
      maxKeptProcesses,
      keepEndedMs,
      log,
      renderer: this.#renderer,
    });
    this.#sessions = new SessionRegistry({
      sessionTtlMs: options.sessionTtlMs,
      maxSessions: options.maxSessions,
      table: { maxProcesses: options.maxProcesses, ...table },
      log,
      observe: this.#observe,
      budget: this.#budget,
      input: new ServerInput(),
      keep: this.#keep,
      changes,
      durable: this.#durable ?? undefined,
    });
    void changes?.recover({ keepSessions: this.#durable !== null });
    if (this.#durable && !options.durable?.isFirst)
      takeUpEverything({
        state: this.#durable,
        sessions: this.#sessions,
        keep: this.#keep,
        shares: this.#shares,
        log,
        retainedBytes,
      });
  }

  /** Serves one client. Resolves when its channel ends. */
  accept(channel: Channel, options: AcceptOptions = {}): Promise<void> {
    return new Promise((resolve) => {
      const connection: Connection = new Connection({
        channel,
        sessions: this.#sessions,
        log: this.#log,
        // Who views finds the process again, so nothing of it stays behind that others could need.
        resumable: options.share === undefined && (options.resumable ?? true),
        door: options.door,
        handshake: this.#continued,
        principal: options.share ? `share:${options.share.id}` : options.principal,
        share: options.share,
        shares: this.#shares,
        peer: options.peer ?? channel.label,
        observe: this.#observe,
        timeRequest: this.#timeRequest,
        probe: options.probe ?? (() => undefined),
        introduced: options.introduced ?? (() => undefined),
        windowBytes: this.#windowBytes,
        http: this.#http,
        files: this.#files,
        garbage: this.#garbage,
        budget: this.#budget,
        spool: this.#spool,
        changes: this.#changes,
        durable: this.#durable,
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
    const sessions = this.#sessions.all();
    const own = sessions.flatMap(({ processes }) => processes.all().filter(({ log }) => !log.closed));
    return { sessions: sessions.length, processes: own.length + this.#keep.running() };
  }

  /**
   * The share that a token stands for: undefined if it is no token of a share, null if the share is over or unknown. Pass
   * it to `accept`.
   */
  shareOf(token: string): Share | null | undefined {
    return this.#shares.find(token);
  }

  /**
   * It can be used: what it leaves need not be readable to the version before it any more.
   *
   * @internal
   */
  settle(): void {
    this.#durable?.journal.settle();
  }

  /** What it does at the moment. */
  status(): ServerStatus {
    const processes = this.#running();
    return {
      connections: this.#connections.size,
      sessions: this.#sessions.all().length,
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
    const own = this.#sessions.all().flatMap(({ processes }) => processes.all());
    return [...own, ...this.#keep.processes()].filter(({ log }) => !log.closed);
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
   * Clients come in at these doors. Continues with those of the server before.
   *
   * @internal
   */
  openTo(doors: KeptDoors): void {
    this.#doors = doors;
    for (const { fd, record } of this.#durable ? takePassed(this.#durable) : []) {
      // The door calls `accept`.
      this.#continued = record.handshake;
      const { door, principal, unread } = record;
      doors.adopt(door, fd, Buffer.from(unread, 'base64'), principal);
      this.#continued = null;
    }
    doors.welcomeArrived();
  }

  #upgradesOf({ succession }: DurableOptions, state: DurableState): Upgrades {
    return new Upgrades({
      succession,
      log: this.#log,
      restDoors: async () => await this.#doors?.rest(),
      rest: () => Promise.all([...this.#connections].map((connection) => connection.rest())),
      handOver: () => {
        passConnections(state, this.#connections);
        this.#doors?.handOver();
      },
    });
  }

  async #shutDown(): Promise<void> {
    for (const connection of this.#connections) connection.close('the server is shutting down');
    await Promise.all([this.#sessions.close(), this.#keep.close(), this.#files.close()]);
    this.#changes?.close();
    this.#shares.close();
    await this.#renderer.close();
    this.#spool?.close();
    this.#durable?.close();
    this.#releaseHost();
  }
}

/** What ends beside programs when the mounts of a set go: the helpers of file operations. */
function openChanges(directory: string | undefined, files: ConfinableFileSystem): ChangeSets | null {
  if (directory === undefined) return null;
  const sets = new ChangeSets({ directory });
  sets.onEndView((id) => files.endView(id));
  return sets;
}

/** Programs in sandboxes run as our user, and must not read what others printed. */
function openSpool(options: SpoolOptions | undefined, log: ServerLog): Spool | null {
  if (!options) return null;
  const onFailure = (error: Error): void =>
    log.warn({ reason: error.message }, 'the output of a process can no longer be written to disk');
  const spool = new Spool({ onFailure, ...options }, reserveSpace);
  hideFromSandboxes(spool.directory);
  return spool;
}
