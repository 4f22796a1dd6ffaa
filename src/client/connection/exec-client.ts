import {
  type EnvironmentInfo,
  ExecError,
  type ExecMethodName,
  type ExecParams,
  type ExecResult,
  isExecError,
  type ServerCapabilities,
} from '../../protocol/index.js';
import { FlightBudget } from '../../rpc/index.js';
import { type Deadline, withDeadline } from '../../transport/deadline.js';
import { type BulkRequest, post, resultOf } from './bulk.js';
import { type ClientListener, ClientListeners } from './client-listeners.js';
import {
  type CallOptions,
  connectionSettings,
  DEFAULT_GIVE_UP_AFTER_MS,
  type ExecClientOptions,
  INFO_TIMEOUT_MS,
} from './client-options.js';
import { reconnect } from './reconnect.js';
import { type Connection, openConnection } from './connection.js';
import { UnreadBudget } from './unread-budget.js';
import { ProcessSinks } from './process-sinks.js';
import { contactLost } from './remote-errors.js';
import { isRepeatable, isSessionBound } from './retry-rules.js';

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
  #connection: Connection | undefined;
  /** Set while there is no connection but one is being made; all waiting calls wait for this one promise. */
  #coming: Promise<Connection> | undefined;
  #sessionId: string | undefined;
  #info: EnvironmentInfo | undefined;
  #capabilities: ServerCapabilities = {};
  #ended: ExecError | undefined;
  #disconnected: Promise<void> = Promise.resolve();

  private constructor(options: ExecClientOptions) {
    this.#options = options;
  }

  /** Connects and opens a session. Rejects when that fails; only later losses are repaired. */
  static async connect(options: ExecClientOptions): Promise<ExecClient> {
    const client = new ExecClient(options);
    try {
      await client.#openFresh();
      client.#info ??= await client.call('environment/info', null, { timeoutMs: INFO_TIMEOUT_MS });
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** The session calls go to. Changes when the old one could not be resumed. */
  get sessionId(): string {
    return this.#sessionId ?? '';
  }

  /** What the server offers beyond the common protocol; empty for servers of others. */
  get serverCapabilities(): ServerCapabilities {
    return this.#capabilities;
  }

  get environmentInfo(): EnvironmentInfo {
    return this.#info ?? { shell: { name: 'sh', path: '/bin/sh' } };
  }

  /** False once calls can only fail. */
  get usable(): boolean {
    return this.#ended === undefined;
  }

  /** Resolves when there is a connection. After one that was given up this opens a new session. */
  async ready(): Promise<void> {
    if (!this.#connection)
      await this.#connected('process/start', { timeoutMs: this.#options.requestTimeoutMs });
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
    const { method } = request;
    const {
      timeoutMs = this.#options.requestTimeoutMs,
      signal,
      sameSession = isSessionBound(method),
    } = options;
    const deadline = timeoutMs === undefined ? undefined : performance.now() + timeoutMs;
    const session = this.#sessionId;
    for (;;) {
      const left = (): number | undefined =>
        deadline === undefined ? undefined : Math.ceil(deadline - performance.now());
      // No turn of the event loop passes while connected: calls leave in the order they were made.
      const connection = this.#connection ?? (await this.#connected(method, { timeoutMs: left(), signal }));
      if (sameSession && connection.sessionId !== session) throw contactLost('its session is gone');
      try {
        return await post(connection.peer, request, { timeoutMs: left(), signal });
      } catch (error) {
        if (!this.#mayRepeat(method, error)) throw error;
      }
    }
  }

  /** Sends a notification if connected. What must survive a reconnect is sent again by its owner. */
  notify(method: string, params: unknown): void {
    this.#connection?.peer.notify(method, params);
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

  #mayRepeat(method: string, error: unknown): boolean {
    return (
      isExecError(error, 'connectionClosed') && this.#options.resume && !this.#ended && isRepeatable(method)
    );
  }

  async #connected(method: string, patience: Deadline): Promise<Connection> {
    if (this.#ended) throw this.#ended;
    const coming = this.#coming ?? this.#openFresh();
    return await withDeadline(coming, {
      ...patience,
      what: method,
      late: () => new ExecError('requestTimeout', `No connection for ${method} in time.`),
    });
  }

  /** Opens a new session: at the beginning, and for calls after the old one was given up. */
  #openFresh(): Promise<Connection> {
    const opening = this.#open(undefined).then((connection) => {
      if (connection.peer.closed) throw new ExecError('notConnected', 'The connection ended at once.');
      this.#wentOnline(connection);
      return connection;
    });
    this.#expect(opening);
    return opening;
  }

  #expect(coming: Promise<Connection>): void {
    this.#coming = coming;
    coming.catch(() => {
      if (this.#coming === coming) this.#coming = undefined;
    });
  }

  async #open(resumeSessionId: string | undefined, limitMs = Number.POSITIVE_INFINITY): Promise<Connection> {
    let connection: Connection | undefined;
    let disconnected = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      disconnected = resolve;
    });
    connection = await openConnection({
      ...connectionSettings(this.#options, limitMs),
      resumeSessionId,
      onNotification: (method, params, attached) => {
        this.processes.dispatch(method, params, attached);
        this.#listeners.notified(method, params);
      },
      onClosed: (reason) => {
        disconnected();
        if (connection && this.#connection === connection) this.#wentOffline(reason.message);
      },
    });
    this.#disconnected = gone;
    if (this.#ended) {
      connection.peer.destroy('the client was closed');
      throw this.#ended;
    }
    return connection;
  }

  #wentOnline(connection: Connection): void {
    this.#connection = connection;
    this.#coming = undefined;
    this.#sessionId = connection.sessionId;
    this.#capabilities = connection.capabilities;
    this.#info = connection.info ?? this.#info;
    this.intake.attach(connection.capabilities.flowControl ? undefined : connection.channel);
    this.#listeners.tell('online');
    if (connection.resumed) this.processes.resumed();
    else this.processes.lost(contactLost('the server no longer knows its session'));
  }

  #wentOffline(why: string): void {
    this.#connection = undefined;
    this.intake.attach(undefined);
    if (this.#ended) return;
    this.#options.onLog?.(`connection lost: ${why}`);
    this.processes.interrupted();
    if (this.#options.resume) {
      this.#expect(this.#reconnect(why));
      this.#listeners.tell('offline');
    } else this.#end(new ExecError('connectionClosed', `The connection ended: ${why}.`));
  }

  async #reconnect(why: string): Promise<Connection> {
    const { giveUpAfterMs = DEFAULT_GIVE_UP_AFTER_MS } = this.#options;
    const attempt = async (limitMs: number): Promise<Connection | undefined> => {
      const connection = await this.#open(this.#sessionId, limitMs);
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
    this.#connection?.peer[way]('the client is done');
    this.#connection = undefined;
  }
}
