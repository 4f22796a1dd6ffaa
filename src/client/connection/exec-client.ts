import {
  type EnvironmentInfo,
  ExecError,
  type ExecMethodName,
  type ExecParams,
  type ExecResult,
  isExecError,
  type ServerCapabilities,
} from '../../protocol/index.js';
import { LineAccount, type RpcPeer } from '../../rpc/index.js';
import { type BulkRequest, resultOf } from './bulk.js';
import type { ClientListener } from './client-listeners.js';
import { type CallOptions, type ExecClientOptions, INFO_TIMEOUT_MS } from './client-options.js';
import { ClientSession } from './client-session.js';
import { awaitConnection, exchange } from './exchange.js';
import type { ProcessSinks } from './process-sinks.js';
import type { UnreadBudget } from './unread-budget.js';

/**
 * Calls methods in a session on an exec server. A lost connection is restored automatically: calls wait meanwhile,
 * unanswered ones are repeated where that is safe, and processes fill their gaps.
 */
export class ExecClient implements AsyncDisposable {
  /**
   * What unread output and input in flight may take together, beyond the first windows of input.
   *
   * @internal
   */
  readonly account = new LineAccount();
  readonly #options: ExecClientOptions;
  readonly #session: ClientSession;
  #begun: Promise<void> = Promise.resolve();

  private constructor(options: ExecClientOptions) {
    this.#options = options;
    this.#session = new ClientSession(options);
    this.account.count(() => this.#session.unreadBudget.unreadBytes);
  }

  /** Connects and opens a session. Rejects if that fails; only later losses are repaired. */
  static async connect(options: ExecClientOptions): Promise<ExecClient> {
    const client = new ExecClient(options);
    client.#begun = client.#begin();
    await client.#begun;
    return client;
  }

  /**
   * Like `connect`, but returns the client immediately, for callers that send their first requests with the handshake.
   *
   * @internal
   */
  static begin(options: ExecClientOptions): { client: ExecClient; connected: Promise<void> } {
    const client = new ExecClient(options);
    client.#begun = client.#begin();
    return { client, connected: client.#begun };
  }

  /** @internal */
  get processes(): ProcessSinks {
    return this.#session.processes;
  }

  /** @internal */
  get unreadBudget(): UnreadBudget {
    return this.#session.unreadBudget;
  }

  /** The current session. Changes if the previous one could not be resumed. */
  get sessionId(): string {
    return this.#session.id ?? '';
  }

  /** What the server offers beyond the common protocol. Empty for other servers, and before the handshake is answered. */
  get serverCapabilities(): ServerCapabilities {
    return this.#session.capabilities ?? {};
  }

  get environmentInfo(): EnvironmentInfo {
    return this.#session.info ?? { shell: { name: 'sh', path: '/bin/sh' } };
  }

  /** False once every call will fail. */
  get usable(): boolean {
    return !this.#session.ended;
  }

  /**
   * True while the server is connected and has answered the handshake.
   *
   * @internal
   */
  get isOnline(): boolean {
    return this.#session.line.connection !== undefined;
  }

  /** Whether the server's capabilities and environment are known. Always true once connected. */
  get introduced(): boolean {
    return this.#session.capabilities !== undefined && this.#session.info !== undefined;
  }

  /** True while the first session is being opened and requests can already be sent. */
  get isOpening(): boolean {
    return this.#session.isOpening;
  }

  /**
   * Resolves when there is a connection and the server's capabilities and environment are known. Opens a new session if
   * the previous one was given up.
   */
  async ready(): Promise<void> {
    const { line } = this.#session;
    if (!line.connection) {
      const { requestTimeoutMs: timeoutMs } = this.#options;
      await awaitConnection(this.#session.nextConnection(), 'process/start', { timeoutMs });
    }
    if (!this.#session.info) await this.#begun;
  }

  /** Calls a method and waits for its answer, reconnecting if necessary. */
  async call<Name extends ExecMethodName>(
    method: Name,
    params: ExecParams<Name>,
    options: CallOptions = {},
  ): Promise<ExecResult<Name>> {
    return resultOf(method, await this.exchange({ method, params, bytes: undefined }, options));
  }

  /**
   * Like `call`, for callers that parse the answer themselves.
   *
   * @internal
   */
  async exchange(request: BulkRequest, options: CallOptions = {}): Promise<unknown> {
    const { timeoutMs = this.#options.requestTimeoutMs } = options;
    const session = this.#session;
    const context = {
      line: session.line,
      sessionId: session.id,
      isOpening: session.isOpening,
      nextConnection: () => session.nextConnection(),
      willReconnect: () => this.#options.resume && !session.ended,
    };
    return await exchange(context, request, { ...options, timeoutMs });
  }

  /**
   * The connection, or the one being opened, if there is any.
   *
   * @internal
   */
  get peer(): RpcPeer | undefined {
    return this.#session.line.current?.peer;
  }

  /** Sends a notification if connected. Whatever must survive a reconnect has to be sent again by the caller. */
  notify(method: string, params: unknown): void {
    this.#session.line.current?.peer.notify(method, params);
  }

  /** Tells `listener` about other notifications and changes of the connection. Returns an unsubscribe function. */
  listen(listener: ClientListener): () => void {
    return this.#session.listeners.add(listener);
  }

  /** Closes the connection for good. Running processes lose contact, and the server ends them. */
  async close(): Promise<void> {
    this.#session.end(new ExecError('connectionClosed', 'The client was closed.'));
    await this.#session.disconnected;
  }

  /**
   * Like `close`, without a round trip: notifies the server but does not wait for it to confirm.
   *
   * @internal
   */
  async leave(): Promise<void> {
    this.#session.end(new ExecError('connectionClosed', 'The client was closed.'), 'leave');
    await this.#session.disconnected;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #begin(): Promise<void> {
    try {
      await this.#session.openNew();
      this.#session.info ??= await this.call('environment/info', null, { timeoutMs: INFO_TIMEOUT_MS });
    } catch (error) {
      if (isExecError(error)) this.#session.end(error);
      await this.close();
      throw error;
    }
  }
}
