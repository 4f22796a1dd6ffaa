import {
  type EnvironmentInfo,
  ExecError,
  isExecError,
  type ServerCapabilities,
} from '../../protocol/index.js';
import type { CloseReason } from '../../rpc/index.js';
import { ClientListeners } from './client-listeners.js';
import {
  connectionSettings,
  DEFAULT_GIVE_UP_AFTER_MS,
  type ExecClientOptions,
  GIVE_UP_AFTER_SILENCE_MS,
} from './client-options.js';
import { type Connection, openConnection, type OpeningConnection } from './connection.js';
import { CurrentLine } from './current-line.js';
import { ProcessSinks } from './process-sinks.js';
import { isUnauthorized, reconnect } from './reconnect.js';
import { contactLost } from './remote-errors.js';
import { UnreadBudget } from './unread-budget.js';

/** Whether a connection ended, or went silent, before its handshake was answered. */
function wasCut(error: unknown): boolean {
  return isExecError(error, 'connectionClosed') || isExecError(error, 'requestTimeout');
}

interface OpenOptions {
  readonly resumeSessionId?: string | undefined;
  readonly limitMs?: number;
  readonly onOpening?: (() => void) | undefined;
}

/**
 * A session on a server and its connection: opens it, restores it after a loss, and tells processes and listeners what
 * happens to it.
 */
export class ClientSession {
  readonly processes = new ProcessSinks();
  readonly unreadBudget = new UnreadBudget();
  readonly listeners = new ClientListeners();
  readonly line = new CurrentLine();
  /** Sent with the handshake by our servers, and requested after it from others. */
  info: EnvironmentInfo | undefined;
  /** Settles when the last connection is closed. */
  disconnected: Promise<void> = Promise.resolve();
  readonly #options: ExecClientOptions;
  readonly #stop = new AbortController();
  #id: string | undefined;
  #capabilities: ServerCapabilities | undefined;
  #ended: ExecError | undefined;

  constructor(options: ExecClientOptions) {
    this.#options = options;
  }

  get id(): string | undefined {
    return this.#id;
  }

  get capabilities(): ServerCapabilities | undefined {
    return this.#capabilities;
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** True while the first session is being opened and requests can already be sent. */
  get isOpening(): boolean {
    return this.line.opening !== undefined && this.#id === undefined;
  }

  /** Waits for the connection being opened. If there is none, opens a new session. */
  async nextConnection(): Promise<Connection> {
    if (this.#ended) throw this.#ended;
    return await (this.line.pending ?? this.openNew());
  }

  /** Opens a new session: initially, and for calls made after the previous one was given up. */
  openNew(): Promise<Connection> {
    const opening = this.#openUnresumed().then((connection) => {
      if (connection.peer.closed) throw new ExecError('notConnected', 'The connection ended immediately.');
      this.#wentOnline(connection);
      return connection;
    });
    this.line.expect(opening);
    return opening;
  }

  /** Ends the session for good. Idempotent. */
  end(error: ExecError, how: 'close' | 'leave' = 'close'): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#stop.abort();
    this.listeners.tell('ended');
    this.processes.lost(contactLost(error.message.replace(/\.$/, ''), error));
    // The server need not keep the session for a client that will not return.
    if (this.#capabilities?.sessionEnd) this.line.connection?.peer.notify('session/end', {});
    this.line.current?.peer[how]('the client is done');
    this.line.offline();
  }

  async #openUnresumed(): Promise<Connection> {
    const { onOpening, resume } = this.#options;
    // Only on the first connection are there callers that do not wait for the handshake.
    if (!onOpening || this.#capabilities) return await this.#open({});
    try {
      return await this.#open({ onOpening: () => onOpening() });
    } catch (error) {
      // Older servers cut a connection that continues after a refusal, and the reason is lost: try again step by step.
      if (!resume || this.#ended || !isExecError(error, 'connectionClosed')) throw error;
      return await this.#open({});
    }
  }

  async #open(options: OpenOptions): Promise<Connection> {
    const { resumeSessionId, limitMs = Number.POSITIVE_INFINITY, onOpening } = options;
    let connection: Connection | undefined;
    let early: OpeningConnection | undefined;
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
          early = opening;
          this.disconnected = gone;
          this.#sendEarly(opening, onOpening);
        }),
      onNotification: (method, params, attached) => {
        this.processes.dispatch(method, params, attached);
        this.listeners.notified(method, params, attached?.bytes);
      },
      onClosed: (reason) => {
        disconnected();
        this.#dropOpening(early);
        if (connection && this.line.connection === connection) this.#wentOffline(reason);
      },
    });
    this.disconnected = gone;
    if (this.#ended) {
      connection.peer.destroy('the client was closed');
      throw this.#ended;
    }
    return connection;
  }

  /** Lets waiting calls send before the handshake is answered. */
  #sendEarly(opening: OpeningConnection, onOpening: () => void): void {
    if (this.#ended) return opening.peer.destroy('the client was closed');
    opening.opened.catch(() => this.#dropOpening(opening));
    this.line.allowEarly(opening);
    onOpening();
  }

  #dropOpening(opening: OpeningConnection | undefined): void {
    if (opening && this.line.drop(opening) && this.#id !== undefined) this.processes.interrupted();
  }

  #wentOnline(connection: Connection): void {
    const isFirst = this.#id === undefined;
    const wasEarly = this.line.opening?.peer === connection.peer;
    this.line.online(connection);
    this.#id = connection.sessionId;
    this.#capabilities = connection.capabilities;
    this.info = connection.info ?? this.info;
    this.unreadBudget.attach(connection.capabilities.flowControl ? undefined : connection.channel);
    // Processes first: they ask for what listeners may rely on. Those of a first session, or of one resumed early, already know.
    if (!(wasEarly && (isFirst || connection.resumed))) {
      if (connection.resumed) this.processes.resumed();
      else this.processes.forgotten(contactLost('the server no longer knows its session'));
    }
    this.listeners.tell('online');
  }

  #wentOffline(reason: CloseReason): void {
    const { message: why } = reason;
    this.line.offline();
    this.unreadBudget.attach(undefined);
    if (this.#ended) return;
    this.#options.onLog?.(`connection lost: ${why}`);
    this.processes.interrupted();
    if (this.#options.resume) {
      this.line.expect(this.#reconnect(reason));
      this.listeners.tell('offline');
    } else this.end(new ExecError('connectionClosed', `The connection ended: ${why}.`));
  }

  async #reconnect({ message: why, silent = false }: CloseReason): Promise<Connection> {
    const { giveUpAfterMs = silent ? GIVE_UP_AFTER_SILENCE_MS : DEFAULT_GIVE_UP_AFTER_MS } = this.#options;
    // Other servers cut a connection that continues after a refused resume, which is common.
    let isEarly = this.#capabilities?.ahead === true;
    const attempt = async (limitMs: number): Promise<Connection | undefined> => {
      const onOpening = isEarly ? () => this.processes.resumed() : undefined;
      // If the line breaks before the handshake is answered, the next attempt asks for nothing else: an answer that is
      // short and comes first gets through where one behind a flood may not.
      isEarly = false;
      const connection = await this.#open({ resumeSessionId: this.#id, limitMs, onOpening }).catch(
        (error: unknown) => {
          isEarly = onOpening !== undefined && !wasCut(error);
          throw error;
        },
      );
      if (connection.peer.closed) return undefined;
      this.#wentOnline(connection);
      return connection;
    };
    const { connection, last } = await reconnect({ attempt, giveUpAfterMs, signal: this.#stop.signal });
    if (connection) return connection;
    if (this.#ended) throw this.#ended;
    this.#id = undefined;
    this.processes.lost(contactLost(`the connection ended (${why}) and was not restored`, last));
    this.listeners.tell('lost');
    const message = isUnauthorized(last)
      ? `The connection ended (${why}), and the server no longer accepts our token.`
      : `The connection ended (${why}) and could not be restored within ${giveUpAfterMs} ms.`;
    throw new ExecError('connectionClosed', message, { cause: last });
  }
}
