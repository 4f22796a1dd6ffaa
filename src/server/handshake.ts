import { managesNetwork, sandboxSupport } from '../host/index.js';
import { ExecError, type ExecParsedParams, type ExecResult } from '../protocol/index.js';
import { offeredCapabilities } from './capabilities.js';
import type { ConnectionOptions } from './connection-options.js';
import type { ConnectionRecord } from './durable/records.js';
import { environmentInfo } from './environment-info.js';
import { whoIs } from './server-events.js';
import type { Session } from './session.js';
import type { SessionConnection } from './session/session-options.js';
import { requireRoomToView, UNKNOWN_MACHINE } from './shared-view.js';

/** What a handshake needs of its connection. */
export interface HandshakeConnection extends SessionConnection {
  /** From here on, bytes travel in binary frames, or as base64. */
  useBinaryFrames(used: boolean): void;
  /** The trace of the request being dispatched. */
  readonly trace: string | undefined;
}

/** The stages of a client: `initialize`, `initialized`, then requests in a session, which it may leave again. */
export class Handshake {
  readonly #options: ConnectionOptions;
  readonly #connection: HandshakeConnection;
  #session: Session | undefined;
  #ready = false;
  #sendsEarly = false;

  constructor(options: ConnectionOptions, connection: HandshakeConnection) {
    this.#options = options;
    this.#connection = connection;
  }

  get session(): Session | undefined {
    return this.#session;
  }

  /** The client sends requests before the handshake is answered, so they may be meant for a session it does not get. */
  get sendsEarly(): boolean {
    return this.#sendsEarly;
  }

  requireSession(): Session {
    if (!this.#session)
      throw new ExecError('notInitialized', 'client must call initialize before other methods');
    return this.#session;
  }

  /** Throws if this request is out of turn. */
  admit(method: string, params: unknown): void {
    if (method === 'initialize') return;
    if (method === 'process/start' && !this.#sendsEarly && !Object.hasOwn(Object(params), 'cwd'))
      throw new ExecError('invalidParams', 'params.cwd: Invalid input: expected string, received undefined');
    this.requireSession();
    if (method === 'process/start' && this.#options.isDraining())
      throw new ExecError('machineDraining', 'This machine is being drained; start the program elsewhere.');
    if (!this.#ready)
      throw new ExecError('notInitialized', 'client must send initialized before other methods');
  }

  /** The session is open when this returns, whatever the answer is still waiting for. */
  async initialize(params: ExecParsedParams<'initialize'>): Promise<ExecResult<'initialize'>> {
    const { channel, windowBytes, principal, share } = this.#options;
    if (this.#session)
      throw new ExecError('alreadyInitialized', 'initialize may only be called once per connection');
    this.#sendsEarly = params.capabilities?.ahead === true;
    this.#connection.messages.answersQuestions = params.capabilities?.networkAsk === true;
    const session = this.#openSession(params);
    this.#session = session;
    session.introduce(params.clientName);
    const binaryFrames = params.capabilities?.binaryFrames === true && channel.carriesBytes === true;
    this.#connection.useBinaryFrames(binaryFrames);
    this.#options.introduced();
    this.#report(session, params.resumeSessionId != null);
    const leases = principal !== undefined;
    return {
      sessionId: session.id,
      environmentInfo: share ? UNKNOWN_MACHINE : await environmentInfo(this.#options),
      capabilities: offeredCapabilities({
        flowControl: session.acknowledged,
        windowBytes,
        binaryFrames,
        ahead: this.#sendsEarly,
        leases,
        shares: leases && !share,
        networkRules: !share && (await managesNetwork()),
        changes: !share && this.#options.changes !== null && (await sandboxSupport()).available,
        ports: !share && process.platform === 'linux',
        upgrade: !share && this.#options.upgrades !== null,
        spool: share ? null : this.#options.spool,
      }),
    };
  }

  /** The answer has arrived. */
  initialized(): void {
    this.#ready = true;
  }

  /** The client will not return to this session. */
  leaveSession(): void {
    this.#session = undefined;
    this.#ready = false;
  }

  /** What another server needs to continue with this client; null before the handshake. */
  record(): Omit<NonNullable<ConnectionRecord['handshake']>, 'missingWatch'> | null {
    const session = this.#session;
    if (!session) return null;
    return {
      session: session.id,
      clientName: session.clientName,
      isReady: this.#ready,
      sendsEarly: this.#sendsEarly,
      answersQuestions: this.#connection.messages.answersQuestions,
      binaryFrames: this.#connection.sendsBytes,
      positions: session.positions(),
    };
  }

  /** Continues where another server stopped. Returns false if the session is gone. */
  continueWith(record: NonNullable<ConnectionRecord['handshake']>): boolean {
    const { session, clientName, isReady, sendsEarly, binaryFrames, positions } = record;
    this.#session = this.#options.sessions.continueWith(session, this.#connection, positions);
    if (!this.#session) return false;
    this.#session.introduce(clientName);
    this.#ready = isReady;
    this.#sendsEarly = sendsEarly;
    this.#connection.messages.answersQuestions = record.answersQuestions ?? false;
    this.#connection.useBinaryFrames(binaryFrames);
    this.#options.introduced();
    return true;
  }

  #openSession({ resumeSessionId, capabilities }: ExecParsedParams<'initialize'>): Session {
    const { sessions, principal, share } = this.#options;
    const resumed = resumeSessionId ?? undefined;
    // Another client's session may hold more than the one process.
    if (share && resumed !== undefined && sessions.get(resumed)?.principal !== principal)
      throw new ExecError('sessionNotFound', 'unknown session id');
    if (share) requireRoomToView(sessions.all().filter((each) => each.principal === principal).length);
    const acknowledged = capabilities?.flowControl === true;
    return resumed === undefined
      ? sessions.open(this.#connection, { acknowledged, principal })
      : sessions.resume(resumed, this.#connection, { principal });
  }

  #report({ id: session, clientName }: Session, resumed: boolean): void {
    const { log, channel, peer, principal } = this.#options;
    const { trace } = this.#connection;
    const details = { connection: channel.label, peer, session, resumed };
    log.info(trace === undefined ? details : { ...details, trace }, 'session attached');
    this.#options.observe({
      event: resumed ? 'sessionResumed' : 'sessionOpened',
      session,
      client: clientName,
      peer,
      who: whoIs(principal),
    });
  }
}
