import { setMaxListeners } from 'node:events';
import { QueuedInput, type ServerInput } from '../contract/index.js';
import { appDialect } from '../protocol/dialects.js';
import {
  type AppMethods,
  type AppParsedParams,
  type AppResult,
  type AppServerNotificationName,
  appMethods,
  ExecError,
} from '../protocol/index.js';
import {
  type ByteBudget,
  type Channel,
  type CloseReason,
  type Handlers,
  type PeerHandler,
  type ErrorWording,
  Router,
  RpcPeer,
  traced,
} from '../rpc/index.js';
import { AdmissionControl } from './admission-control.js';
import { CapturedRoom, type ServerCapture } from './captured-room.js';
import { changesHandlers } from './changes-handlers.js';
import { type ClientProfile, clientProfile, serverProfile } from './client-profile.js';
import { commandHandlers } from './command-handlers.js';
import { ConnectionEnvironments } from './connection-environments.js';
import { environmentHandlers } from './environment-handlers.js';
import type { AppEnvironments } from './environments.js';
import { assertExperimental } from './experimental.js';
import { fileHandlers } from './file-handlers.js';
import type { HandlerContext } from './handler-context.js';
import { HeldPolicies } from './held-policies.js';
import type { AppLog } from './log.js';
import { processHandlers } from './process-handlers.js';
import type { SandboxChooser } from '../policy/index.js';

export interface AppConnectionOptions {
  readonly channel: Channel;
  readonly environments: AppEnvironments;
  readonly chooseSandbox: SandboxChooser;
  readonly version: string;
  readonly codexHome: string | undefined;
  readonly log: AppLog;
  /** The memory that messages of all connections share. */
  readonly budget: ByteBudget;
  /** The input that programs of all connections have not read. */
  readonly input: ServerInput;
  /** The output that programs of all connections printed and no answer contains yet. */
  readonly capture: ServerCapture;
  /** Called once the client has introduced itself. */
  readonly introduced: () => void;
  /** Called when an id now refers to another environment, for every connection. */
  readonly replaced: (environmentId: string) => void;
  /** Called when everything the connection started has ended. */
  readonly closed: () => void;
}

/** One code for everything that cannot be decoded, unknown methods included. */
const WORDING: ErrorWording = {
  unknownMethod: (method) =>
    new ExecError('invalidRequest', `Invalid request: unknown variant \`${method.slice(0, 100)}\``),
  undecodable: (problem) => new ExecError('invalidRequest', `Invalid request: ${problem}`),
};

/** One client: the handshake, then requests, until the channel closes. Everything it started ends with it. */
export class AppConnection {
  readonly #options: AppConnectionOptions;
  readonly #peer: RpcPeer;
  readonly #router: Router<AppMethods>;
  readonly #environments: ConnectionEnvironments;
  readonly #captured: CapturedRoom;
  readonly #admission = new AdmissionControl();
  readonly #gone = new AbortController();
  #client: ClientProfile | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: AppConnectionOptions) {
    this.#options = options;
    // Every watch listens for the end of the connection.
    setMaxListeners(0, this.#gone.signal);
    this.#environments = new ConnectionEnvironments(options.environments);
    this.#captured = new CapturedRoom(options.capture);
    this.#router = new Router({
      table: appMethods,
      handlers: this.#handlers(),
      admit: (method, params) => this.#admit(method, params),
      wording: WORDING,
    });
    const handler: PeerHandler = {
      request: (method, params, attached, { slot, trace }) => {
        const run = (): unknown =>
          this.#admission.run(method, () => this.#router.dispatch(method, params, attached, slot));
        if (trace === undefined) return run();
        return traced({ log: options.log, connection: options.channel.label, method, trace }, run);
      },
      // We do not wait for `initialized`; all others are for other servers.
      notification: () => undefined,
      violation: () => undefined,
      dropped: () => options.log.warn({ connection: options.channel.label }, 'dropped a broken message'),
      closed: (reason: CloseReason) => void this.#end(reason),
    };
    this.#peer = new RpcPeer(options.channel, handler, { dialect: appDialect, budget: options.budget });
    this.#peer.open();
    options.log.debug({ connection: options.channel.label }, 'connected');
  }

  /** Makes the next request for this id open the environment again. */
  retire(environmentId: string): void {
    this.#environments.retire(environmentId);
  }

  /** Closes the connection. Resolves when everything it started has ended. */
  async close(reason: string): Promise<void> {
    this.#peer.close(reason);
    await this.#end({ clean: true, message: reason });
  }

  #handlers(): Handlers<AppMethods> {
    const { environments, replaced } = this.#options;
    const context = this.#context();
    return {
      initialize: (params) => this.#initialize(params),
      ...commandHandlers(context),
      ...processHandlers(context),
      ...fileHandlers(context),
      ...environmentHandlers(environments, replaced),
      ...changesHandlers(context),
    };
  }

  #context(): HandlerContext {
    const { chooseSandbox, input, log } = this.#options;
    return {
      environment: (environmentId) => this.#environments.get(environmentId),
      notify: (method, params) => this.#notify(method, JSON.stringify(params)),
      notifyText: (method, params) => this.#notify(method, params),
      room: () => (this.#peer.outbox.full ? this.#peer.outbox.room() : undefined),
      signal: this.#gone.signal,
      queued: new QueuedInput(input),
      captured: this.#captured,
      chooseSandbox,
      held: new HeldPolicies(),
      log,
    };
  }

  #notify(method: AppServerNotificationName, params: string): void {
    if (this.#client?.unwanted.has(method)) return;
    this.#peer.send(`{"method":"${method}","params":${params},"emittedAtMs":${Date.now()}}`);
  }

  #admit(method: string, params: unknown): void {
    if (method === 'initialize') return;
    if (!this.#client) throw new ExecError('notInitialized', 'Not initialized');
    if (!this.#client.experimentalApi) assertExperimental(method, params);
  }

  #initialize(params: AppParsedParams<'initialize'>): AppResult<'initialize'> {
    const { log, channel, version, codexHome } = this.#options;
    if (this.#client) throw new ExecError('alreadyInitialized', 'Already initialized');
    this.#client = clientProfile(params);
    this.#options.introduced();
    log.info({ connection: channel.label, client: this.#client.name }, 'client initialized');
    return serverProfile(params, { version, codexHome });
  }

  #end(reason: CloseReason): Promise<void> {
    this.#ended ??= this.#release(reason);
    return this.#ended;
  }

  async #release(reason: CloseReason): Promise<void> {
    const { log, channel } = this.#options;
    log.debug({ connection: channel.label, reason: reason.message }, 'disconnected');
    this.#gone.abort();
    await this.#environments.close();
    this.#captured.close();
    this.#options.closed();
  }
}
