import type { Dialect } from '../protocol/dialects.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { ByteBudget } from './byte-budget.js';
import type { Channel, CloseReason, OutgoingMessage, PassedChannel } from './channel.js';
import { IncomingRequests, type RequestHandler } from './incoming-requests.js';
import { LineAccount } from './line-account.js';
import {
  type FramedMessage,
  type IncomingMessage,
  notificationText,
  parseFrame,
  parseMessage,
} from './message.js';
import { Outbox } from './outbox.js';
import { OutgoingCalls, type PeerCallOptions } from './outgoing-calls.js';
import { ReadGate, type Received } from './read-gate.js';
import type { Attachment } from './with-bytes.js';

/**
 * Handles what a peer receives. `attached` holds bytes sent with a message; the member of `params` they replace is then
 * empty. `trace` is for logs.
 */
export interface PeerHandler {
  /**
   * Returns the result or a promise of it; a result with bytes is a `BytesResult`. A large answer is produced through
   * its `slot`, which delays it while earlier answers are unread.
   */
  readonly request: RequestHandler;
  notification(method: string, params: unknown, attached?: Attachment): void;
  /** Whether the other side may send the same request again. Default: no. */
  isRepeatable?(method: string): boolean;
  /** The other side violated the protocol. By default the connection ends. */
  violation?(error: ExecError): void;
  /** An unreadable message, in a dialect that drops those. */
  dropped?(error: unknown): void;
  closed(reason: CloseReason): void;
}

/** One side of a JSON-RPC connection: numbers calls, matches answers and passes requests to a handler. */
export class RpcPeer {
  readonly outbox: Outbox;
  /** What this connection holds for the other side. */
  readonly account = new LineAccount();
  /** Binary frames are negotiated in the handshake. They may arrive as soon as we have offered them… */
  acceptsBytes = false;
  /** …and may be sent once the other side has accepted. */
  sendsBytes = false;
  readonly #channel: Channel;
  readonly #handler: PeerHandler;
  readonly #dialect: Dialect;
  readonly #calls: OutgoingCalls;
  readonly #requests: IncomingRequests;
  readonly #gate: ReadGate;
  readonly #stopListening: () => void;
  #closed: CloseReason | undefined;
  /** Set once nothing more is read: to be called when all is answered and sent. */
  #rested: (() => void) | undefined;

  /** `budget` is shared by all connections of a server. */
  constructor(channel: Channel, handler: PeerHandler, options: { dialect: Dialect; budget?: ByteBudget }) {
    this.#channel = channel;
    this.#handler = handler;
    this.#dialect = options.dialect;
    const budget = options.budget ?? new ByteBudget();
    this.outbox = new Outbox(channel, budget);
    this.account.count(() => this.outbox.pendingBytes);
    this.#calls = new OutgoingCalls(this.outbox);
    this.#requests = new IncomingRequests({
      outbox: this.outbox,
      account: this.account,
      budget,
      handle: (method, params, attached, context) => handler.request(method, params, attached, context),
      isRepeatable: (method) => handler.isRepeatable?.(method) ?? false,
      sendsBytes: () => this.sendsBytes,
      changed: () => this.#changed(),
      destroy: (reason) => channel.destroy(reason),
    });
    this.#gate = new ReadGate({
      channel,
      isBusy: () => this.#rested !== undefined || this.#requests.busy,
      receive: (message) => this.#receive(message),
    });
    this.outbox.onDrained(() => this.#gate.update());
    this.outbox.onFlushed = () => this.#retryWaiting();
    this.#stopListening = budget.onRoom(() => this.#retryWaiting());
  }

  get label(): string {
    return this.#channel.label;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  open(): void {
    this.#channel.open({
      message: (raw) => this.#receive({ raw, read: () => parseMessage(raw, this.#dialect) }),
      binary: (raw) => this.#receive({ raw, read: () => this.#readFrame(raw) }),
      closed: (reason) => this.#ended(reason),
    });
  }

  /**
   * Sends a request and waits for its answer, which is a `WithBytes` if bytes came with it. Rejects with
   * `connectionClosed`, `requestTimeout` or `aborted`.
   */
  call(method: string, params: unknown, options: PeerCallOptions = {}): Promise<unknown> {
    if (this.#closed) return Promise.reject(connectionClosed(this.#closed));
    return this.#calls.call(method, params, options);
  }

  notify(method: string, params: unknown): void {
    this.send(notificationText(method, params));
  }

  /** Sends a serialised message: output is written without building an object first. */
  send(message: OutgoingMessage, flushed?: () => void): void {
    if (!this.#closed) this.outbox.send(message, flushed);
  }

  /**
   * Reads nothing more. Resolves when it is at rest.
   */
  rest(): Promise<void> {
    return new Promise((resolve) => {
      this.#rested = resolve;
      this.#changed();
    });
  }

  /**
   * Whether it rests, everything has been answered that must be, and everything has been sent or can be handed over. It may
   * not stay so while open requests are carried out.
   */
  get isAtRest(): boolean {
    if (this.closed) return true;
    const { pendingBytes, isPassedOn } = this.outbox;
    const isSent = pendingBytes === 0 || (isPassedOn && this.#channel.passesUnsent === true);
    return this.#rested !== undefined && this.#requests.unrepeatable === 0 && isSent;
  }

  /** Hands the connection over if it is idle and that is possible. The receiver answers the open requests. */
  handOver(): PassedChannel | null {
    const open = this.#requests.repeatable;
    if (this.#closed || open === null || !this.isAtRest || this.#calls.isWaiting) return null;
    return this.#channel.handOver?.([...open, ...this.#gate.held.map(({ raw }) => raw)]) ?? null;
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  /** Ends the channel without waiting for the other side to confirm. */
  leave(reason: string): void {
    if (this.#channel.leave) this.#channel.leave(reason);
    else this.#channel.close(reason);
  }

  destroy(reason: string): void {
    this.#channel.destroy(reason);
  }

  #readFrame(data: Uint8Array): FramedMessage {
    if (!this.acceptsBytes)
      throw new ExecError('invalidMessage', 'failed to read the binary frame: the handshake agreed on none');
    return parseFrame(data, this.#dialect);
  }

  #receive(received: Received): void {
    if (this.#closed) return;
    if (this.#gate.paused) return this.#gate.hold(received);
    let message: IncomingMessage & { readonly attached?: Attachment };
    try {
      message = received.read();
    } catch (error) {
      if (this.#dialect.brokenMessages === 'dropped') this.#handler.dropped?.(error);
      else this.#requests.refuse(error);
      return;
    }
    if (message.kind === 'request') this.#requests.answer(message, received.raw);
    else if (message.kind === 'notification') this.#notified(message);
    else if (!this.#calls.settle(message))
      this.violation(
        new ExecError('protocolViolation', 'An answer to a request that was never made arrived.'),
      );
  }

  #notified({ method, params, attached }: IncomingNotification): void {
    try {
      this.#handler.notification(method, params, attached);
    } catch (error) {
      // A notification has no answer, so one that cannot be understood is a protocol violation.
      this.violation(
        isExecError(error)
          ? error
          : new ExecError('internalError', 'A notification failed.', { cause: error }),
      );
    }
  }

  /** Reports a protocol violation by the other side. */
  violation(error: ExecError): void {
    if (this.#handler.violation) this.#handler.violation(error);
    else this.#channel.reject(error.message);
  }

  /** Retries answers and reads that are waiting for room. */
  #retryWaiting(): void {
    this.#requests.retryWaiting();
    if (this.#gate.paused) this.#changed();
  }

  #changed(): void {
    this.#gate.update();
    if (this.isAtRest) this.#rested?.();
  }

  #ended(reason: CloseReason): void {
    if (this.#closed) return;
    this.#closed = reason;
    this.#rested?.();
    this.#gate.close();
    this.#stopListening();
    this.#calls.rejectAll(connectionClosed(reason));
    this.#handler.closed(reason);
    this.#requests.close();
    this.outbox.close();
  }
}

interface IncomingNotification {
  readonly method: string;
  readonly params: unknown;
  readonly attached?: Attachment;
}

function connectionClosed(reason: CloseReason): ExecError {
  return new ExecError('connectionClosed', `The connection ended: ${reason.message}.`);
}
