import { managesNetwork, sandboxSupport } from '../host/index.js';
import { execDialect } from '../protocol/dialects.js';
import {
  execClientNotifications,
  ExecError,
  type ExecMethods,
  type ExecParsedParams,
  type ExecResult,
  execMethods,
  type MethodTable,
  readStreamMessage,
} from '../protocol/index.js';
import {
  type Attachment,
  type CloseReason,
  type LineAccount,
  type Handlers,
  type OutgoingMessage,
  type PeerHandler,
  Router,
  RpcPeer,
  traced,
  validate,
} from '../rpc/index.js';
import { offeredCapabilities } from './capabilities.js';
import type { ConnectionOptions } from './connection-options.js';
import { Belongings } from './durable/belongings.js';
import type { ConnectionRecord } from './durable/records.js';
import { environmentInfo } from './environment-info.js';
import type { ConnectionContext } from './handlers/connection-context.js';
import { sessionHandlers } from './handlers/session-handlers.js';
import { Compression } from './push/compression.js';
import { PushQueue } from './push/push-queue.js';
import { ClientMessages } from './network/client-messages.js';
import { ResumeGate } from './resume-gate.js';
import { timed } from './request-time.js';
import { whoIs } from './server-events.js';
import type { Session, SessionConnection } from './session.js';
import { requireRoomToView, requireViewing, UNKNOWN_MACHINE } from './shared-view.js';

/** By any name. */
const methods: MethodTable = execMethods;

/** One client: the handshake, then requests, until the channel ends. */
export class Connection implements SessionConnection {
  readonly queue: PushQueue;
  readonly account: LineAccount;
  readonly compression: Compression | undefined;
  readonly messages: ClientMessages;
  readonly #options: ConnectionOptions;
  readonly #peer: RpcPeer;
  readonly #router: Router<ExecMethods>;
  #session: Session | undefined;
  /** Aborted when the channel has ended, to release the connection's file handles, watches and streams. */
  readonly #gone = new AbortController();
  #ready = false;
  /** The client sends requests before the handshake is answered, so they may be meant for a session it does not get. */
  #sendsEarly = false;
  readonly #resuming = new ResumeGate();
  /** The trace of the request being dispatched. */
  #trace: string | undefined;
  #stopShare: (() => void) | undefined;
  readonly #belongings = new Belongings();

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
        if (options.share) requireViewing(options.share, method, params);
        const run = (): unknown => this.#router.dispatch(method, params, attached, slot);
        const go = (): unknown => (trace === undefined ? run() : this.#traced(method, trace, run));
        return timed(method, options.timeRequest, () => this.#resuming.pass(go));
      },
      notification: (method, params, attached) => this.#notified(method, params, attached),
      isRepeatable: (method) => methods[method]?.idempotent ?? false,
      closed: (reason) => this.#ended(reason),
    };
    this.#peer = new RpcPeer(options.channel, handler, { dialect: execDialect, budget: options.budget });
    this.account = this.#peer.account;
    this.messages = new ClientMessages(this.#peer);
    this.queue = new PushQueue(this.#peer.outbox);
    // The handshake answer needs this, so it is probed while the request is in flight. A failure is reported there.
    sandboxSupport().catch(() => undefined);
    this.#stopShare = options.share?.onOver(() => this.#shareOver());
    if (options.handshake) this.#continue(options.handshake);
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

  /** Pushes and reads nothing more. Resolves when everything has been answered that its client could not repeat. */
  rest(): Promise<void> {
    this.queue.rest();
    return this.#peer.rest();
  }

  /** What another server needs to continue with this connection, if it rests and that is possible. */
  handOver(): { descriptor: number; record: ConnectionRecord } | null {
    const { door, principal, share } = this.#options;
    const session = this.#session;
    const isIdle = this.#resuming.isOpen && this.queue.isAtRest && this.#belongings.canBeLeft;
    if (door === undefined || principal === undefined || share || !isIdle || session?.canBeLeft === false)
      return null;
    const passed = this.#peer.handOver();
    if (!passed) return null;
    const handshake = session && {
      session: session.id,
      clientName: session.clientName,
      isReady: this.#ready,
      sendsEarly: this.#sendsEarly,
      binaryFrames: this.#peer.sendsBytes,
      positions: session.positions(),
      missingWatch: this.#belongings.missingWatch,
    };
    const unread = Buffer.from(passed.unread).toString('base64');
    return {
      descriptor: passed.descriptor,
      record: { door, principal, unread, handshake: handshake ?? null },
    };
  }

  /** Goes on where another server was. */
  #continue(handshake: NonNullable<ConnectionRecord['handshake']>): void {
    const { session, clientName, isReady, sendsEarly, binaryFrames, positions, missingWatch } = handshake;
    this.#session = this.#options.sessions.continueWith(session, this, positions);
    // Its client has to come back and be told that there is no such session.
    if (!this.#session) {
      setImmediate(() => this.close('the session is gone'));
      return;
    }
    this.#session.introduce(clientName);
    this.#ready = isReady;
    this.#sendsEarly = sendsEarly;
    this.#peer.acceptsBytes = binaryFrames;
    this.#peer.sendsBytes = binaryFrames;
    this.#options.introduced();
    if (missingWatch) void this.#watchAgain(missingWatch);
  }

  async #watchAgain(params: ExecParsedParams<'fs/watchMissing'>): Promise<void> {
    const isWatched = await this.#belongings.watchAgain(params);
    if (!isWatched) this.#peer.notify('fs/missingChanged', { watchId: params.watchId });
  }

  get unsentBytes(): number {
    return this.#peer.outbox.pendingBytes;
  }

  close(reason: string): void {
    this.#peer.close(reason);
  }

  #handlers(): Handlers<ExecMethods> {
    return {
      initialize: (params) => {
        const answer = this.#initialize(params);
        if (params.resumeSessionId != null) this.#resuming.holdUntil(answer);
        return answer;
      },
      ...sessionHandlers(this.#options, {
        session: () => this.#attachedSession(),
        context: this.#context(),
      }),
    };
  }

  #context(): ConnectionContext {
    return {
      notify: (method, params) => {
        this.#peer.notify(method, params);
        return this.#peer.outbox.room();
      },
      openStream: () => {
        const stream = this.queue.openStream();
        return {
          notify: (method, params) => stream.push(() => this.#peer.notify(method, params)),
          close: () => stream.close(),
        };
      },
      unsentBytes: () => this.#peer.outbox.pendingBytes,
      owns: this.#belongings.owns,
      watchesMissing: this.#belongings.watchesMissing,
      signal: this.#gone.signal,
    };
  }

  /** Adds the trace id to whatever is logged for the request. */
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
    if (method === 'process/start' && !this.#sendsEarly && !Object.hasOwn(Object(params), 'cwd'))
      throw new ExecError('invalidParams', 'params.cwd: Invalid input: expected string, received undefined');
    if (!this.#session)
      throw new ExecError('notInitialized', 'client must call initialize before other methods');
    if (method === 'process/start' && this.#options.isDraining())
      throw new ExecError('machineDraining', 'This machine is being drained; start the program elsewhere.');
    if (!this.#ready)
      throw new ExecError('notInitialized', 'client must send initialized before other methods');
  }

  /** The session is open when this returns, whatever the answer is still waiting for. */
  async #initialize(params: ExecParsedParams<'initialize'>): Promise<ExecResult<'initialize'>> {
    const { sessions, log, channel, windowBytes, principal, share } = this.#options;
    const spool = share ? null : this.#options.spool;
    if (this.#session)
      throw new ExecError('alreadyInitialized', 'initialize may only be called once per connection');
    this.#sendsEarly = params.capabilities?.ahead === true;
    this.messages.answersQuestions = params.capabilities?.networkAsk === true;
    const resumed = params.resumeSessionId ?? undefined;
    // The session of somebody else may hold more than the one process.
    if (share && resumed !== undefined && sessions.get(resumed)?.principal !== principal)
      throw new ExecError('sessionNotFound', 'unknown session id');
    if (share) requireRoomToView(sessions.all().filter((each) => each.principal === principal).length);
    const acknowledged = params.capabilities?.flowControl === true;
    this.#session =
      resumed === undefined
        ? sessions.open(this, { acknowledged, principal })
        : sessions.resume(resumed, this, { principal });
    this.#session.introduce(params.clientName);
    const binaryFrames = params.capabilities?.binaryFrames === true && channel.carriesBytes === true;
    this.#peer.acceptsBytes = binaryFrames;
    this.#peer.sendsBytes = binaryFrames;
    const { id: session, acknowledged: flowControl } = this.#session;
    this.#options.introduced();
    const leases = principal !== undefined;
    const trace = this.#trace === undefined ? {} : { trace: this.#trace };
    const details = {
      connection: channel.label,
      peer: this.#options.peer,
      session,
      resumed: resumed !== undefined,
      ...trace,
    };
    log.info(details, 'session attached');
    this.#options.observe({
      event: resumed === undefined ? 'sessionOpened' : 'sessionResumed',
      session,
      client: this.#session.clientName,
      peer: this.#options.peer,
      who: whoIs(principal),
    });
    return {
      sessionId: session,
      environmentInfo: share ? UNKNOWN_MACHINE : await environmentInfo(this.#options),
      capabilities: offeredCapabilities({
        flowControl,
        windowBytes,
        binaryFrames,
        ahead: this.#sendsEarly,
        leases,
        shares: leases && !share,
        networkRules: !share && (await managesNetwork()),
        changes: !share && this.#options.changes !== null && (await sandboxSupport()).available,
        ports: !share && process.platform === 'linux',
        upgrade: !share && this.#options.upgrades !== null,
        spool,
      }),
    };
  }

  #notified(method: string, params: unknown, attached?: Attachment): void {
    const message = this.#session && readStreamMessage(method, params, attached?.bytes);
    if (message) {
      this.#session?.streams.receive(message);
    } else if (method === 'initialized' && this.#session) {
      this.#ready = true;
    } else if (method === 'process/ack' && this.#session?.acknowledged) {
      const { processId, seq } = validate(execClientNotifications['process/ack'].params, params);
      this.#session.acknowledge(processId, seq);
    } else if (method === 'session/end' && this.#session) {
      this.#endSession(this.#session);
    } else if (this.#session || !this.#sendsEarly) {
      this.#peer.violation(new ExecError('protocolViolation', 'unexpected notification'));
    }
  }

  /** Nobody views by it any more, and nobody comes back. */
  #shareOver(): void {
    if (this.#session) this.#endSession(this.#session);
    this.close('the share is over');
  }

  /** The client will not return to this session. Closing the connection is up to the client. */
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
    this.#stopShare?.();
    this.#gone.abort();
    log.debug({ connection: channel.label, reason: reason.message }, 'disconnected');
    if (this.#session && resumable) sessions.detach(this.#session);
    else if (this.#session) void sessions.end(this.#session);
    this.#options.closed();
  }
}

/** Methods that are switched off are unknown. */
function methodsOffered({ http }: { http: boolean }): ExecMethods {
  if (http) return execMethods;
  const { 'http/request': _, ...rest } = execMethods;
  // The router looks methods up by name, so the handler of the missing one is never reached.
  return rest as ExecMethods;
}
