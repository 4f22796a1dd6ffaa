import type { ChangesLimits } from '../contract/index.js';
import type { SpoolOptions } from '../spool/index.js';
import type { CollectGarbage } from './bulk-garbage.js';
import type { DurableOptions } from './durable/durable-state.js';
import type { ServerLog } from './log.js';
import type { ServerObserver } from './server-events.js';
import type { Share } from './shares.js';

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
  /** Where processes keep output on disk if their clients ask for it. Default: nowhere, and such starts are refused. */
  readonly spool?: SpoolOptions | undefined;
  /** Where changes are held if a policy asks for that. Default: nowhere, and such starts are refused. */
  readonly changesDirectory?: string | undefined;
  /** How much disk space held changes may take there. */
  readonly changesLimits?: Partial<ChangesLimits> | undefined;
  /** Called when a lot of garbage has accumulated. Default: none; the engine decides when to collect. */
  readonly collectGarbage?: CollectGarbage | undefined;
  /**
   * Make orphaned descendants children of this process, permanently, and reap them here. Without this, whatever `su`
   * and similar programs leave in the background outlives its session. Only for a process that does nothing else.
   * Default false.
   */
  readonly adoptOrphans?: boolean | undefined;
  readonly log?: ServerLog | undefined;
  /** Called with the duration of each request, in seconds. */
  readonly timeRequest?: ((method: string, seconds: number) => void) | undefined;
  /** Called for refused clients, for sessions, and for starts and ends of processes. */
  readonly observe?: ServerObserver | undefined;
  /**
   * Continues where an earlier server ended, and leaves enough for the next one. Needs a spool.
   *
   * @internal
   */
  readonly durable?: DurableOptions | undefined;
}

/** The load of a server at one moment. */
export interface ServerStatus {
  readonly connections: number;
  readonly sessions: number;
  /** Running ones, kept ones included. */
  readonly processes: number;
  /** Output and answers that clients have not read yet. */
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
  /**
   * The share by which the client views one process, from `shareOf`. Such a client may do nothing else, even if it has a
   * principal.
   */
  readonly share?: Share | undefined;
  /** Where the client connects from, for the log. */
  readonly peer?: string | undefined;
  /** Makes the other side prove that it is alive. */
  readonly probe?: () => void;
  /** Called once the client has a session. */
  readonly introduced?: () => void;
  /**
   * The number of the address it connected to.
   *
   * @internal
   */
  readonly door?: number;
}
