import { type HostFileSystem, machineInfo, sandboxSupport } from '../host/index.js';
import { execDialect } from '../protocol/dialects.js';
import {
  execClientNotifications,
  ExecError,
  type ExecMethods,
  type ExecParsedParams,
  type ExecResult,
  execMethods,
} from '../protocol/index.js';
import {
  type ByteBudget,
  type Channel,
  type CloseReason,
  FlightBudget,
  type Handlers,
  type OutgoingMessage,
  type PeerHandler,
  Router,
  RpcPeer,
  traced,
  validate,
} from '../rpc/index.js';
import type { BulkGarbage } from './bulk-garbage.js';
import { codexCapabilities, offeredCapabilities } from './capabilities.js';
import type { ConnectionContext } from './handlers/connection-context.js';
import { discoveryHandlers } from './handlers/discovery-handlers.js';
import { fileHandlers } from './handlers/files-handlers.js';
import { httpHandlers } from './handlers/http-handlers.js';
import type { ServerLog } from './log.js';
import { processHandlers } from './handlers/process-handlers.js';
import { Compression } from './push/compression.js';
import { PushQueue } from './push/push-queue.js';
import type { Session, SessionConnection } from './session.js';
import type { SessionRegistry } from './session-registry.js';

export interface ConnectionOptions {
  readonly channel: Channel;
  readonly sessions: SessionRegistry;
  readonly log: ServerLog;
  /** False where nobody can come back, as on stdio: the session then ends with the connection. */
  readonly resumable: boolean;
  readonly probe: () => void;
  readonly introduced: () => void;
  readonly windowBytes: number;
  readonly files: HostFileSystem;
  readonly garbage: BulkGarbage;
  /** What messages of all connections may take up together. */
  readonly budget: ByteBudget;
  /** Whether clients may send HTTP requests from this machine. */
  readonly http: boolean;
  readonly closed: () => void;
}

/** One client: the handshake, then requests, until the channel ends. */
export class Connection implements SessionConnection {
  readonly queue: PushQueue;
  readonly flight = new FlightBudget();
  readonly compression: Compression | undefined;
  readonly #options: ConnectionOptions;
  readonly #peer: RpcPeer;
  readonly #router: Router<ExecMethods>;
  #session: Session | undefined;
  /** Aborted when the channel has ended: file handles, watches and streams of this connection go with it. */
  readonly #gone = new AbortController();
  #ready = false;
  /** The client sends on without waiting for the handshake: what it sent may have been for a session it did not get. */
  #ahead = false;
  /** That of the request being handed to its handler. */
  #trace: string | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.compression = options.channel.inflates ? new Compression() : undefined;
    this.#router = new Router({
      table: methodsOffered(options),
      handlers: this.#handlers(),
      admit: (method, params) => this.#admit(method, params),
    });
    const handler: PeerHandler = {
      request: (method, params, attached, { slot, trace }) => {
        const run = (): unknown => this.#router.dispatch(method, params, attached, slot);
        return trace === undefined ? run() : this.#traced(method, trace, run);
      },
      notification: (method, params) => this.#notified(method, params),
      closed: (reason) => this.#ended(reason),
    };
    this.#peer = new RpcPeer(options.channel, handler, { dialect: execDialect, budget: options.budget });
    this.queue = new PushQueue(this.#peer.outbox);
    // The answer to the handshake needs it: found out while the request is on its way. What goes wrong is told there.
    sandboxSupport().catch(() => undefined);
    this.#peer.open();
    options.log.debug({ connection: options.channel.label }, 'connected');
  }

  get sendsBytes(): boolean {
    return this.#peer.sendsBytes;
  }

  send(message: OutgoingMessage, flushed?: () => void): void {
    this.#peer.send(message, flushed);
  }

  probe(): void {
    this.#options.probe();
  }

  close(reason: string): void {
    this.#peer.close(reason);
  }

  #handlers(): Handlers<ExecMethods> {
    const { files, garbage } = this.#options;
    const context: ConnectionContext = {
      notify: (method, params) => {
        this.#peer.notify(method, params);
        return this.#peer.outbox.room();
      },
      signal: this.#gone.signal,
    };
    return {
      initialize: (params) => this.#initialize(params),
      'environment/info': async () => ({
        ...(await this.#environmentInfo()),
        sandbox: await sandboxSummary(),
      }),
      'environment/status': () => ({ status: 'ready' }),
      ...processHandlers(() => this.#attachedSession(), this.#options.sessions),
      ...fileHandlers({ ...context, files, garbage }),
      ...discoveryHandlers({ files }),
      ...httpHandlers(context),
    };
  }

  async #environmentInfo(): Promise<ExecResult<'environment/info'>> {
    const { http } = this.#options;
    const { available: sandbox } = await sandboxSupport();
    return { ...machineInfo(), capabilities: codexCapabilities({ http, sandbox }) };
  }

  /** What is logged for a request that is part of a trace says so. */
  #traced(method: string, trace: string, run: () => unknown): unknown {
    const { log, channel } = this.#options;
    this.#trace = trace;
    try {
      return traced({ log, connection: channel.label, method, trace }, run);
    } finally {
      this.#trace = undefined;
    }
  }

  #admit(method: string, params: unknown): void {
    if (method === 'initialize') return;
    if (method === 'process/start' && !this.#ahead && !Object.hasOwn(Object(params), 'cwd'))
      throw new ExecError('invalidParams', 'params.cwd: Invalid input: expected string, received undefined');
    if (!this.#session)
      throw new ExecError('notInitialized', 'client must call initialize before other methods');
    if (!this.#ready)
      throw new ExecError('notInitialized', 'client must send initialized before other methods');
  }

  /** The session is open when this returns, whatever the answer still waits for. */
  async #initialize(params: ExecParsedParams<'initialize'>): Promise<ExecResult<'initialize'>> {
    const { sessions, log, channel, windowBytes } = this.#options;
    if (this.#session)
      throw new ExecError('alreadyInitialized', 'initialize may only be called once per connection');
    this.#ahead = params.capabilities?.ahead === true;
    const resumed = params.resumeSessionId ?? undefined;
    const acknowledged = params.capabilities?.flowControl === true;
    this.#session =
      resumed === undefined ? sessions.open(this, { acknowledged }) : sessions.resume(resumed, this);
    const binaryFrames = params.capabilities?.binaryFrames === true && channel.carriesBytes === true;
    this.#peer.acceptsBytes = binaryFrames;
    this.#peer.sendsBytes = binaryFrames;
    const { id: session, acknowledged: flowControl } = this.#session;
    this.#options.introduced();
    const trace = this.#trace === undefined ? {} : { trace: this.#trace };
    const details = { connection: channel.label, session, resumed: resumed !== undefined, ...trace };
    log.info(details, 'session attached');
    return {
      sessionId: session,
      environmentInfo: await this.#environmentInfo(),
      capabilities: offeredCapabilities({ flowControl, windowBytes, binaryFrames, ahead: this.#ahead }),
    };
  }

  #notified(method: string, params: unknown): void {
    if (method === 'initialized' && this.#session) {
      this.#ready = true;
    } else if (method === 'process/ack' && this.#session?.acknowledged) {
      const { processId, seq } = validate(execClientNotifications['process/ack'].params, params);
      this.#session.acknowledge(processId, seq);
    } else if (method === 'session/end' && this.#session) {
      this.#endSession(this.#session);
    } else if (this.#session || !this.#ahead) {
      this.#peer.violation(new ExecError('protocolViolation', 'unexpected notification'));
    }
  }

  /** Nobody will come back for it. The connection itself is its client's to close. */
  #endSession(session: Session): void {
    const { sessions, log, channel } = this.#options;
    log.info({ connection: channel.label, session: session.id }, 'session ended by its client');
    this.#session = undefined;
    this.#ready = false;
    void sessions.end(session);
  }

  #attachedSession(): Session {
    if (!this.#session)
      throw new ExecError('notInitialized', 'client must call initialize before other methods');
    return this.#session;
  }

  #ended(reason: CloseReason): void {
    const { sessions, log, channel, resumable } = this.#options;
    this.queue.close();
    this.#gone.abort();
    log.debug({ connection: channel.label, reason: reason.message }, 'disconnected');
    if (this.#session && resumable) sessions.detach(this.#session);
    else if (this.#session) void sessions.end(this.#session);
    this.#options.closed();
  }
}

/** A method that is switched off is unknown. */
function methodsOffered({ http }: { http: boolean }): ExecMethods {
  if (http) return execMethods;
  const { 'http/request': _, ...rest } = execMethods;
  // The router looks methods up by name; the handler of the missing one is simply never reached.
  return rest as ExecMethods;
}

/** What of a policy this machine can enforce. Found out once, by doing it. */
async function sandboxSummary(): Promise<ExecResult<'environment/info'>['sandbox']> {
  const support = await sandboxSupport();
  const { level } = support;
  return support.available ? { level, maxProcesses: support.processLimit } : { level, hint: support.hint };
}
