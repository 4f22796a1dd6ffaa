import { ServerInput } from '../contract/index.js';
import { ByteBudget, type Channel } from '../rpc/index.js';
import { AppConnection } from './app-connection.js';
import { ServerCapture } from './captured-room.js';
import type { AppEnvironments } from './environments.js';
import { type AppLog, silentLog } from './log.js';
import { refuseConfinement, type SandboxChooser } from '../policy/index.js';

export interface AppServerOptions {
  readonly environments: AppEnvironments;
  /** The version reported to clients. */
  readonly version: string;
  /** Turns a request's policy into a sandbox. Default: nothing is enforced, and policies that confine are refused. */
  readonly chooseSandbox?: SandboxChooser | undefined;
  /** Reported to clients. Default: `CODEX_HOME`, or `.codex` in the home directory. */
  readonly codexHome?: string | undefined;
  readonly log?: AppLog;
  /** @internal The input that programs have not read. */
  readonly input?: ServerInput;
  /** @internal The output that programs printed and no answer contains yet. */
  readonly capture?: ServerCapture;
}

/** Runs commands and accesses files for applications. Works on channels of any kind. */
export class AppServer {
  readonly #options: AppServerOptions;
  readonly #connections = new Set<AppConnection>();
  readonly #budget = new ByteBudget();
  readonly #input: ServerInput;
  readonly #capture: ServerCapture;
  #closing: Promise<void> | undefined;

  constructor(options: AppServerOptions) {
    this.#options = options;
    this.#input = options.input ?? new ServerInput();
    this.#capture = options.capture ?? new ServerCapture();
  }

  /**
   * Serves one client until its channel closes. Resolves when everything it started has ended. `introduced` is called
   * once the client has introduced itself.
   */
  accept(channel: Channel, options: { introduced?: () => void } = {}): Promise<void> {
    const { environments, version, codexHome, log = silentLog } = this.#options;
    return new Promise((resolve) => {
      const connection: AppConnection = new AppConnection({
        channel,
        environments,
        chooseSandbox: this.#options.chooseSandbox ?? refuseConfinement({ type: 'dangerFullAccess' }),
        version,
        codexHome,
        log,
        budget: this.#budget,
        input: this.#input,
        capture: this.#capture,
        introduced: options.introduced ?? (() => undefined),
        replaced: (environmentId) => {
          for (const each of this.#connections) each.retire(environmentId);
        },
        closed: () => {
          this.#connections.delete(connection);
          resolve();
        },
      });
      this.#connections.add(connection);
    });
  }

  /** Disconnects every client and ends everything they started. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= Promise.all(
      [...this.#connections].map((connection) => connection.close('the server is shutting down')),
    ).then(() => undefined);
    return this.#closing;
  }
}
