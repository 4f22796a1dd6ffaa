import { ExecError, isExecError } from '../protocol/errors.js';
import type { Channel, CloseReason, OutgoingMessage } from './channel.js';
import {
  type Dialect,
  EXEC_DIALECT,
  errorText,
  type IncomingMessage,
  notificationText,
  parseMessage,
  type RawId,
  requestText,
  resultText,
  UNKNOWN_ID,
} from './message.js';
import { BytesResult } from './bytes-result.js';
import { sendBytes } from './send-bytes.js';
import { Outbox } from './outbox.js';
import { errorFromWire } from './wire-error.js';

/** Requests being answered at one time. Past it the channel is not read until some are done. */
const MAX_REQUESTS_UNDER_WAY = 4096;
/** Unsent bytes past which no further requests are read: a client must read answers to ask more. */
const MAX_UNREAD_ANSWER_BYTES = 32 * 1024 * 1024;

/** What a peer does with what comes in. */
export interface PeerHandler {
  request(method: string, params: unknown): unknown;
  notification(method: string, params: unknown): void;
  /** A message that breaks the protocol; by default the connection ends. */
  violation?(error: ExecError): void;
  /** A message nobody can understand, in a dialect that drops those. */
  dropped?(error: unknown): void;
  closed(reason: CloseReason): void;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: ExecError): void;
}

/** One side of a JSON-RPC connection: numbers calls, matches answers, passes requests to a handler. */
export class RpcPeer {
  readonly outbox: Outbox;
  readonly #channel: Channel;
  readonly #handler: PeerHandler;
  readonly #dialect: Dialect;
  readonly #pending = new Map<RawId, PendingCall>();
  #nextId = 1;
  #underWay = 0;
  #paused = false;
  #closed: CloseReason | undefined;

  constructor(channel: Channel, handler: PeerHandler, options: { dialect?: Dialect } = {}) {
    this.#channel = channel;
    this.#handler = handler;
    this.#dialect = options.dialect ?? EXEC_DIALECT;
    this.outbox = new Outbox(channel);
    this.outbox.onDrained(() => this.#regulate());
  }

  get label(): string {
    return this.#channel.label;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  open(): void {
    this.#channel.open({
      message: (text) => this.#receive(text),
      closed: (reason) => this.#ended(reason),
    });
  }

  /** Sends a request and waits for its answer. Rejects with `connectionClosed`, `requestTimeout` or `aborted`. */
  call(
    method: string,
    params: unknown,
    options: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const { timeoutMs, signal } = options;
    if (this.#closed) return Promise.reject(connectionClosed(this.#closed));
    if (signal?.aborted) return Promise.reject(new ExecError('aborted', `${method} was given up.`));
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise<unknown>((resolve, reject) => {
      const cleanUp = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#pending.delete(String(id));
      };
      const fail = (error: ExecError): void => {
        cleanUp();
        reject(error);
      };
      const abort = (): void => fail(new ExecError('aborted', `${method} was given up.`));
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(
              () => fail(new ExecError('requestTimeout', `No answer to ${method} within ${timeoutMs} ms.`)),
              timeoutMs,
            );
      signal?.addEventListener('abort', abort, { once: true });
      this.#pending.set(String(id), {
        resolve: (result) => {
          cleanUp();
          resolve(result);
        },
        reject: fail,
      });
      this.outbox.send(requestText(id, method, params));
    });
  }

  notify(method: string, params: unknown): void {
    this.sendText(notificationText(method, params));
  }

  /** Sends a message that was put together elsewhere: output is written without building an object first. */
  sendText(message: OutgoingMessage, flushed?: () => void): void {
    if (!this.#closed) this.outbox.send(message, flushed);
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  destroy(reason: string): void {
    this.#channel.destroy(reason);
  }

  #receive(text: string): void {
    if (this.#closed) return;
    let message: IncomingMessage;
    try {
      message = parseMessage(text, this.#dialect);
    } catch (error) {
      if (this.#dialect.brokenMessages === 'dropped') this.#handler.dropped?.(error);
      else this.sendText(errorText(UNKNOWN_ID, error));
      return;
    }
    if (message.kind === 'request') this.#answer(message.id, message.method, message.params);
    else if (message.kind === 'notification') this.#notified(message.method, message.params);
    else this.#settle(message);
  }

  #notified(method: string, params: unknown): void {
    try {
      this.#handler.notification(method, params);
    } catch (error) {
      // There is nobody to answer: a notification that cannot be understood breaks the protocol.
      this.violation(
        isExecError(error)
          ? error
          : new ExecError('internalError', 'A notification failed.', { cause: error }),
      );
    }
  }

  #answer(id: RawId, method: string, params: unknown): void {
    let outcome: unknown;
    try {
      outcome = this.#handler.request(method, params);
    } catch (error) {
      this.sendText(errorText(id, error));
      return;
    }
    if (!(outcome instanceof Promise)) {
      void this.#sendResult(id, outcome);
      return;
    }
    this.#underWay += 1;
    this.#regulate();
    outcome
      .then(
        (result) => this.#sendResult(id, result),
        (error: unknown) => this.sendText(errorText(id, error)),
      )
      .finally(() => {
        this.#underWay -= 1;
        this.#regulate();
      });
  }

  #sendResult(id: RawId, result: unknown): void | Promise<void> {
    if (!(result instanceof BytesResult)) return this.sendText(resultText(id, result));
    // Half an answer can neither be taken back nor turned into an error.
    return sendBytes(this.outbox, id, result).catch(() =>
      this.#channel.destroy('the bytes of an answer could not be had'),
    );
  }

  #settle(message: Extract<IncomingMessage, { kind: 'result' | 'error' }>): void {
    const call = this.#pending.get(message.id);
    if (!call) {
      this.violation(new ExecError('protocolViolation', 'An answer came to a request that was never made.'));
    } else if (message.kind === 'result') {
      call.resolve(message.result);
    } else {
      call.reject(errorFromWire(message.error));
    }
  }

  /** Reports a breach of the protocol by the other side. */
  violation(error: ExecError): void {
    if (this.#handler.violation) this.#handler.violation(error);
    else this.#channel.reject(error.message);
  }

  #regulate(): void {
    const busy =
      this.#underWay >= MAX_REQUESTS_UNDER_WAY || this.outbox.pendingBytes >= MAX_UNREAD_ANSWER_BYTES;
    if (busy === this.#paused) return;
    this.#paused = busy;
    if (busy) this.#channel.pause();
    else this.#channel.resume();
  }

  #ended(reason: CloseReason): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const call of [...this.#pending.values()]) call.reject(connectionClosed(reason));
    this.#handler.closed(reason);
    this.outbox.close();
  }
}

function connectionClosed(reason: CloseReason): ExecError {
  return new ExecError('connectionClosed', `The connection ended: ${reason.message}.`);
}
