import {
  type EnvironmentInfo,
  ExecError,
  type ExecMethodName,
  type ExecParams,
  type ExecResult,
  isExecError,
  type ServerCapabilities,
} from '../../protocol/index.js';
import { type CloseReason, FlightBudget } from '../../rpc/index.js';
import { type BulkRequest, resultOf } from './bulk.js';
import { type ClientListener, ClientListeners } from './client-listeners.js';
import {
  type CallOptions,
  connectionSettings,
  DEFAULT_GIVE_UP_AFTER_MS,
  GIVE_UP_AFTER_SILENCE_MS,
  type ExecClientOptions,
  INFO_TIMEOUT_MS,
} from './client-options.js';
import { reconnect } from './reconnect.js';
import { type Connection, openConnection, type OpeningConnection } from './connection.js';
import { UnreadBudget } from './unread-budget.js';
import { exchange, patiently } from './exchange.js';
import { CurrentLine } from './current-line.js';
import { ProcessSinks } from './process-sinks.js';
import { contactLost } from './remote-errors.js';

/**
 * A session on an exec server, and the connection it currently has. A lost connection is made again by itself:
 * calls then wait, unanswered ones are repeated where that is harmless, and processes fill their gaps.
 */
export class ExecClient implements AsyncDisposable {
  /** @internal */
  readonly processes = new ProcessSinks();
  /** @internal */
  readonly intake = new UnreadBudget();
  /**
   * What the input of all processes may have on its way beyond their first windows.
   *
   * @internal
   */
  readonly inputFlight = new FlightBudget();
  readonly #listeners = new ClientListeners();
  readonly #options: ExecClientOptions;
  readonly #stop = new AbortController();
  readonly #line = new CurrentLine();
  #begun: Promise<void> = Promise.resolve();
  #sessionId: string | undefined;
  #info: EnvironmentInfo | undefined;
  #capabilities: ServerCapabilities | undefined;
  #ended: ExecError | undefined;
  #disconnected: Promise<void> = Promise.resolve();

  private constructor(options: ExecClientOptions) {
    this.#options = options;
  }

  /** Connects and opens a session. Rejects when that fails; only later losses are repaired. */
  static async connect(options: ExecClientOptions): Promise<ExecClient> {
    const client = new ExecClient(options);
    client.#begun = client.#begin();
    await client.#begun;
    return client;
  }

  /**
   * Makes a client and tells how connecting went: for whoever sends first requests along with the handshake.
   *
   * @internal
   */
  static begin(options: ExecClientOptions): { client: ExecClient; connected: Promise<void> } {
    const client = new ExecClient(options);
    client.#begun = client.#begin();
    return { client, connected: client.#begun };
  }

  /** The session calls go to. Changes when the old one could not be resumed. */
  get sessionId(): string {
    return this.#sessionId ?? '';
  }

  /** What the server offers beyond the common protocol; empty for servers of others, and before it has answered. */
  get serverCapabilities(): ServerCapabilities {
    return this.#capabilities ?? {};
  }

  get environmentInfo(): EnvironmentInfo {
    return this.#info ?? { shell: { name: 'sh', path: '/bin/sh' } };
  }

  /** False once calls can only fail. */
  get usable(): boolean {
    return this.#ended === undefined;
  }

  /** Whether the server has said what it is and can do. It has, once connected. */
  get introduced(): boolean {
    return this.#capabilities !== undefined && this.#info !== undefined;
  }

  /** True while the first session is being opened and requests can be sent already. */
  get isOpening(): boolean {
    return this.#line.opening !== undefined && this.#sessionId === undefined;
  }

  /**
   * Resolves when there is a connection and what the server is and can do is known. After one that was given up this opens
   * a new session.
   */
  async ready(): Promise<void> {
    if (!this.#line.connection)
      await patiently(this.#expected(), 'process/start', { timeoutMs: this.#options.requestTimeoutMs });
    if (!this.#info) await this.#begun;
  }

  /** Calls a method and waits for its answer, across reconnects if need be. */
  async call<Name extends ExecMethodName>(
    method: Name,
    params: ExecParams<Name>,
    options: CallOptions = {},
  ): Promise<ExecResult<Name>> {
    return resultOf(method, await this.exchange({ method, params, bytes: undefined }, options));
  }

  /**
   * The same for whoever reads the answer by itself.
   *
   * @internal
   */
  async exchange(request: BulkRequest, options: CallOptions = {}): Promise<unknown> {
    const { timeoutMs = this.#options.requestTimeoutMs } = options;
    const context = {
      line: this.#line,
      sessionId: this.#sessionId,
      isOpening: this.isOpening,
      expected: () => this.#expected(),
      comesBack: () => this.#options.resume && !this.#ended,
    };
    return await exchange(context, request, { ...options, timeoutMs });
  }

  /** Sends a notification if connected. What must survive a reconnect is sent again by its owner. */
  notify(method: string, params: unknown): void {
    this.#line.now?.peer.notify(method, params);
  }

  /** Tells `listener` what belongs to no process, and what becomes of the connection. Returns how to stop that. */
  listen(listener: ClientListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Ends the connection for good. Processes still running lose contact; their server ends them. */
  async close(): Promise<void> {
    this.#end(new ExecError('connectionClosed', 'The client was closed.'));
    await this.#disconnected;
  }

  /**
   * The same without a round trip: the server is told, and its goodbye not waited for.
   *
   * @internal
   */
  async leave(): Promise<void> {
    this.#end(new ExecError('connectionClosed', 'The client was closed.'), 'leave');
    await this.#disconnected;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #begin(): Promise<void> {
    try {
      await this.#openFresh();
      this.#info ??= await this.call('environment/info', null, { timeoutMs: INFO_TIMEOUT_MS });
    } catch (error) {
      if (isExecError(error)) this.#end(error);
      await this.close();
      throw error;
    }
  }

  async #expected(): Promise<Connection> {
    if (this.#ended) throw this.#ended;
    return await (this.#line.coming ?? this.#openFresh());
  }

  /** Opens a new session: at the beginning, and for calls after the old one was given up. */
  #openFresh(): Promise<Connection> {
    const opening = this.#openNew().then((connection) => {
      if (connection.peer.closed) throw new ExecError('notConnected', 'The connection ended at once.');
      this.#wentOnline(connection);
      return connection;
    });
    this.#line.expect(opening);
    return opening;
  }

  async #openNew(): Promise<Connection> {
    const { onOpening, resume } = this.#options;
    // Only the first connection has somebody who did not wait for it.
    if (!onOpening || this.#capabilities) return await this.#open({});
    try {
      return await this.#open({ onOpening: () => onOpening() });
    } catch (error) {
      // Older servers end a connection that goes on behind a refusal, and its reason is lost: ask again step by step.
      if (!resume || this.#ended || !isExecError(error, 'connectionClosed')) throw error;
      return await this.#open({});
    }
  }

  async #open(options: {
    resumeSessionId?: string | undefined;
    limitMs?: number;
    onOpening?: (() => void) | undefined;
  }): Promise<Connection> {
    const { resumeSessionId, limitMs = Number.POSITIVE_INFINITY, onOpening } = options;
    let connection: Connection | undefined;
    let ahead: OpeningConnection | undefined;
    let disconnected = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      disconnected = resolve;
    });
    connection = await openConnection({
      ...connectionSettings(this.#options, limitMs),
      resumeSessionId,
      onOpening:
        onOpening &&
        ((opening) => {
          ahead = opening;
          this.#disconnected = gone;
          this.#goAhead(opening, onOpening);
        }),
      onNotification: (method, params, attached) => {
        this.processes.dispatch(method, params, attached);
        this.#listeners.notified(method, params);
      },
      onClosed: (reason) => {
        disconnected();
        this.#dropOpening(ahead);
        if (connection && this.#line.connection === connection) this.#wentOffline(reason);
      },
    });
    this.#disconnected = gone;
    if (this.#ended) {
      connection.peer.destroy('the client was closed');
      throw this.#ended;
    }
    return connection;
  }

  /** Sends what waits without waiting for the answer to the handshake. */
  #goAhead(opening: OpeningConnection, onOpening: () => void): void {
    if (this.#ended) return opening.peer.destroy('the client was closed');
    opening.opened.catch(() => this.#dropOpening(opening));
    this.#line.goAhead(opening);
    onOpening();
  }

  #dropOpening(opening: OpeningConnection | undefined): void {
    if (opening && this.#line.drop(opening) && this.#sessionId !== undefined) this.processes.interrupted();
  }

  #wentOnline(connection: Connection): void {
    const isFirst = this.#sessionId === undefined;
    const isAhead = this.#line.opening?.peer === connection.peer;
    this.#line.online(connection);
    this.#sessionId = connection.sessionId;
    this.#capabilities = connection.capabilities;
    this.#info = connection.info ?? this.#info;
    this.intake.attach(connection.capabilities.flowControl ? undefined : connection.channel);
    this.#listeners.tell('online');
    // Those of a first session, or of one taken up ahead, know already.
    if (isAhead && (isFirst || connection.resumed)) return;
    if (connection.resumed) this.processes.resumed();
    else this.processes.lost(contactLost('the server no longer knows its session'));
  }

  #wentOffline(reason: CloseReason): void {
    const { message: why } = reason;
    this.#line.offline();
    this.intake.attach(undefined);
    if (this.#ended) return;
    this.#options.onLog?.(`connection lost: ${why}`);
    this.processes.interrupted();
    if (this.#options.resume) {
      this.#line.expect(this.#reconnect(reason));
      this.#listeners.tell('offline');
    } else this.#end(new ExecError('connectionClosed', `The connection ended: ${why}.`));
  }

  async #reconnect({ message: why, silent = false }: CloseReason): Promise<Connection> {
    const { giveUpAfterMs = silent ? GIVE_UP_AFTER_SILENCE_MS : DEFAULT_GIVE_UP_AFTER_MS } = this.#options;
    const attempt = async (limitMs: number): Promise<Connection | undefined> => {
      // Servers of others end a connection that goes on behind a refused resume, which is common.
      const onOpening = this.#capabilities?.ahead ? () => this.processes.resumed() : undefined;
      const connection = await this.#open({ resumeSessionId: this.#sessionId, limitMs, onOpening });
      if (connection.peer.closed) return undefined;
      this.#wentOnline(connection);
      return connection;
    };
    const { connection, last } = await reconnect({ attempt, giveUpAfterMs, signal: this.#stop.signal });
    if (connection) return connection;
    if (this.#ended) throw this.#ended;
    this.#sessionId = undefined;
    this.processes.lost(contactLost(`the connection ended (${why}) and did not come back`, last));
    const message = `The connection ended (${why}) and could not be made again within ${giveUpAfterMs} ms.`;
    throw new ExecError('connectionClosed', message, { cause: last });
  }

  #end(error: ExecError, way: 'close' | 'leave' = 'close'): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#stop.abort();
    this.#listeners.tell('ended');
    this.processes.lost(contactLost(error.message.replace(/\.$/, ''), error));
    // What is left there need not wait for somebody to come back.
    if (this.#capabilities?.sessionEnd) this.#line.connection?.peer.notify('session/end', {});
    this.#line.now?.peer[way]('the client is done');
    this.#line.offline();
  }
}
