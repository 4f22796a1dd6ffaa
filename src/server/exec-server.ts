import { DEFAULT_WINDOW_BYTES } from '../contract/index.js';
import { ConfinableFileSystem } from '../host/index.js';
import type { Channel } from '../rpc/index.js';
import { Connection } from './connection.js';
import { type ServerLog, silentLog } from './log.js';
import { SessionRegistry } from './session-registry.js';

export interface ExecServerOptions {
  /** How long a session outlives its connection. Default 30 s. */
  readonly sessionTtlMs?: number | undefined;
  readonly maxSessions?: number | undefined;
  /** Processes per session. */
  readonly maxProcesses?: number | undefined;
  /** Output kept per process for readers that come late. Default 1 MiB. */
  readonly retainedBytes?: number | undefined;
  /** Whether clients may send HTTP requests from this machine. Default true. */
  readonly http?: boolean | undefined;
  readonly log?: ServerLog;
}

/** Runs processes for whoever connects. Knows channels, not how they came about. */
export class ExecServer {
  readonly #sessions: SessionRegistry;
  readonly #connections = new Set<Connection>();
  readonly #log: ServerLog;
  readonly #windowBytes: number;
  readonly #http: boolean;
  readonly #files = new ConfinableFileSystem();
  #closing: Promise<void> | undefined;

  constructor(options: ExecServerOptions = {}) {
    this.#log = options.log ?? silentLog;
    this.#http = options.http ?? true;
    this.#windowBytes = Math.min(options.retainedBytes ?? DEFAULT_WINDOW_BYTES, DEFAULT_WINDOW_BYTES);
    this.#sessions = new SessionRegistry({
      sessionTtlMs: options.sessionTtlMs,
      maxSessions: options.maxSessions,
      table: {
        maxProcesses: options.maxProcesses,
        retainedBytes: options.retainedBytes,
        windowBytes: this.#windowBytes,
        recycled: true,
      },
      log: this.#log,
    });
  }

  /** Serves one client until its channel ends. Resolves then. */
  accept(channel: Channel, options: { resumable?: boolean; probe?: () => void } = {}): Promise<void> {
    return new Promise((resolve) => {
      const connection: Connection = new Connection({
        channel,
        sessions: this.#sessions,
        log: this.#log,
        resumable: options.resumable ?? true,
        probe: options.probe ?? (() => undefined),
        windowBytes: this.#windowBytes,
        http: this.#http,
        files: this.#files,
        closed: () => {
          this.#connections.delete(connection);
          resolve();
        },
      });
      this.#connections.add(connection);
    });
  }

  /** Says goodbye to every client and ends every session with all its processes. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    for (const connection of this.#connections) connection.close('the server is shutting down');
    await Promise.all([this.#sessions.close(), this.#files.close()]);
  }
}
