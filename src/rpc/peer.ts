import type { Dialect } from '../protocol/dialects.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { AnswerPlace, AnswerRoom } from './answer-room.js';
import { binaryMessage } from './binary-frame.js';
import { ByteBudget, SHARE_BYTES } from './byte-budget.js';
import type { Channel, CloseReason, OutgoingMessage } from './channel.js';
import {
  errorText,
  type FramedMessage,
  frameHeader,
  type IncomingMessage,
  notificationText,
  parseFrame,
  parseMessage,
  type RawId,
  requestText,
  resultText,
  UNKNOWN_ID,
} from './message.js';
import { BytesResult } from './bytes-result.js';
import { sendBytes } from './send-bytes.js';
import { Outbox } from './outbox.js';
import { PART_BYTES } from './part-buffers.js';
import { type CallPatience, PendingCalls } from './pending-calls.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { errorFromWire } from './wire-errors.js';
import { type Attachment, WithBytes } from './with-bytes.js';

/** Unsent bytes past which no further requests are read: a client must read answers to ask more. */
const MAX_UNREAD_ANSWER_BYTES = 32 * 1024 * 1024;

/** What a peer does with what comes in. `attached` came as bytes; its member of `params` is then empty. `trace` is for logs. */
export interface PeerHandler {
  /**
   * What it returns is the result, or a promise of it; one with bytes is a `BytesResult`. A large one is made at its `place`,
   * which makes it wait while those before it are unread.
   */
  request(
    method: string,
    params: unknown,
    attached: Attachment | undefined,
    context: { readonly place: AnswerPlace; readonly trace: string | undefined },
  ): unknown;
  notification(method: string, params: unknown, attached?: Attachment): void;
  /** A message that breaks the protocol; by default the connection ends. */
  violation?(error: ExecError): void;
  /** A message nobody can understand, in a dialect that drops those. */
  dropped?(error: unknown): void;
  closed(reason: CloseReason): void;
}

/** How long a call may take, and the bytes that go with it where the other side takes them. */
export interface PeerCallOptions extends CallPatience {
  readonly attached?: Attachment;
}

/** One side of a JSON-RPC connection: numbers calls, matches answers, passes requests to a handler. */
export class RpcPeer {
  readonly outbox: Outbox;
  /** Binary frames are agreed on in a handshake. We may get them from the moment we offer them… */
  acceptsBytes = false;
  /** …and send them once the other side has said that it takes them. */
  sendsBytes = false;
  readonly #channel: Channel;
  readonly #handler: PeerHandler;
  readonly #dialect: Dialect;
  readonly #pending = new PendingCalls();
  readonly #budget: ByteBudget;
  readonly #room: AnswerRoom;
  readonly #requests: RequestsUnderWay;
  readonly #stopListening: () => void;
  #nextId = 1;
  #paused = false;
  /** What the channel had already when it was told to pause: no more than a transport reads in one go. */
  #held: { readonly read: ReadMessage; readonly bytes: number }[] = [];
  #closed: CloseReason | undefined;

  /** `budget` is what this connection shares with others of the same server. */
  constructor(channel: Channel, handler: PeerHandler, options: { dialect: Dialect; budget?: ByteBudget }) {
    this.#channel = channel;
    this.#handler = handler;
    this.#dialect = options.dialect;
    this.#budget = options.budget ?? new ByteBudget();
    this.outbox = new Outbox(channel, this.#budget);
    this.#room = new AnswerRoom(this.outbox, this.#budget);
    this.#requests = new RequestsUnderWay(this.#budget, () => this.#regulate());
    this.outbox.onDrained(() => this.#regulate());
    this.outbox.onFlushed = () => this.#goOn();
    this.#stopListening = this.#budget.onRoom(() => this.#goOn());
  }

  get label(): string {
    return this.#channel.label;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  open(): void {
    this.#channel.open({
      message: (text) => this.#receive(() => parseMessage(text, this.#dialect), text.length),
      binary: (data) => this.#receive(() => this.#readFrame(data), data.length),
      closed: (reason) => this.#ended(reason),
    });
  }

  /**
   * Sends a request and waits for its answer, which is `WithBytes` if bytes came with it. Rejects with `connectionClosed`,
   * `requestTimeout` or `aborted`.
   */
  call(method: string, params: unknown, options: PeerCallOptions = {}): Promise<unknown> {
    if (this.#closed) return Promise.reject(connectionClosed(this.#closed));
    if (options.signal?.aborted) return Promise.reject(new ExecError('aborted', `${method} was given up.`));
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = this.#pending.wait(String(id), method, options);
    this.outbox.send(withAttachment(requestText(id, method, params), options.attached));
    return answer;
  }

  notify(method: string, params: unknown): void {
    this.send(notificationText(method, params));
  }

  /** Sends a message that was put together elsewhere: output is written without building an object first. */
  send(message: OutgoingMessage, flushed?: () => void): void {
    if (!this.#closed) this.outbox.send(message, flushed);
  }

  close(reason: string): void {
    this.#channel.close(reason);
  }

  /** Ends the channel without waiting for the other side to agree. */
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

  #receive(read: ReadMessage, bytes: number): void {
    if (this.#closed) return;
    if (this.#paused) {
      this.#held.push({ read, bytes });
      return;
    }
    let message: IncomingMessage & { readonly attached?: Attachment };
    try {
      message = read();
    } catch (error) {
      if (this.#dialect.brokenMessages === 'dropped') this.#handler.dropped?.(error);
      else this.#reply(errorText(UNKNOWN_ID, error));
      return;
    }
    if (message.kind === 'request') this.#answer(message, bytes);
    else if (message.kind === 'notification') this.#notified(message);
    else this.#settle(message);
  }

  #notified({ method, params, attached }: IncomingCall): void {
    try {
      this.#handler.notification(method, params, attached);
    } catch (error) {
      // There is nobody to answer: a notification that cannot be understood breaks the protocol.
      this.violation(
        isExecError(error)
          ? error
          : new ExecError('internalError', 'A notification failed.', { cause: error }),
      );
    }
  }

  #answer({ id, method, params, attached, trace }: IncomingRequest, bytes: number): void {
    const request = this.#requests.add(bytes);
    const place = new AnswerPlace(this.#room, () => request.setAside());
    let outcome: unknown;
    try {
      outcome = this.#handler.request(method, params, attached, { place, trace });
    } catch (error) {
      place.leave();
      this.#reply(errorText(id, error));
      return;
    }
    if (!(outcome instanceof Promise)) {
      void this.#sendResult(id, outcome, place);
      return;
    }
    request.begin();
    outcome
      .then(
        (result) => this.#sendResult(id, result, place),
        (error: unknown) => this.#reply(errorText(id, error)),
      )
      // A result that cannot be put into a message, for being too long for one.
      .catch((error: unknown) => this.#reply(errorText(id, error)))
      .finally(() => {
        place.leave();
        request.finish();
      });
  }

  #sendResult(id: RawId, result: unknown, place: AnswerPlace): void | Promise<void> {
    if (!(result instanceof BytesResult)) {
      const text = resultText(id, result);
      this.#reply(text);
      return place.leave(text.length);
    }
    const { bytes } = result;
    // Half an answer can neither be taken back nor turned into an error.
    return sendBytes({ outbox: this.outbox, asFrame: this.sendsBytes }, id, result)
      .catch(() => this.#channel.destroy('the bytes of an answer could not be had'))
      .finally(() => place.leave(bytes instanceof Uint8Array ? bytes.length : PART_BYTES));
  }

  /** Answers that nobody reads must stop the questions, however soon they are given. */
  #reply(text: string): void {
    this.send(text);
    this.#regulate();
  }

  #settle(message: Extract<IncomingMessage, { kind: 'result' | 'error' }> & { attached?: Attachment }): void {
    const call = this.#pending.get(message.id);
    if (!call) {
      this.violation(new ExecError('protocolViolation', 'An answer came to a request that was never made.'));
    } else if (message.kind === 'result') {
      const { result, attached } = message;
      // A frame is only read when `result` is an object.
      call.resolve(attached ? new WithBytes(attached.field, attached.bytes, Object(result)) : result);
    } else {
      call.reject(errorFromWire(message.error));
    }
  }

  /** Reports a breach of the protocol by the other side. */
  violation(error: ExecError): void {
    if (this.#handler.violation) this.#handler.violation(error);
    else this.#channel.reject(error.message);
  }

  #isBusy(): boolean {
    const { pendingBytes } = this.outbox;
    return (
      this.#requests.full ||
      pendingBytes >= MAX_UNREAD_ANSWER_BYTES ||
      (pendingBytes + this.#requests.bytes >= SHARE_BYTES && this.#budget.tight)
    );
  }

  /** There may be room for what had to wait. */
  #goOn(): void {
    this.#room.look();
    if (this.#paused) this.#regulate();
  }

  #regulate(): void {
    if (this.#closed) return;
    const busy = this.#isBusy();
    if (busy === this.#paused) return;
    this.#paused = busy;
    if (busy) return this.#channel.pause();
    this.#takeHeld();
    if (!this.#paused) this.#channel.resume();
  }

  /** As far as there is room: each may be answered with more than fits. */
  #takeHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const { read, bytes } of held) this.#receive(read, bytes);
  }

  #ended(reason: CloseReason): void {
    if (this.#closed) return;
    this.#closed = reason;
    this.#stopListening();
    this.#pending.rejectAll(connectionClosed(reason));
    this.#handler.closed(reason);
    this.#room.close();
    this.outbox.close();
  }
}

type ReadMessage = () => IncomingMessage | FramedMessage;

type IncomingRequest = Extract<IncomingMessage, { kind: 'request' }> & { readonly attached?: Attachment };

interface IncomingCall {
  readonly method: string;
  readonly params: unknown;
  readonly attached?: Attachment;
  readonly trace?: string | undefined;
}

function withAttachment(text: string, attached: Attachment | undefined): OutgoingMessage {
  return attached ? binaryMessage(frameHeader(text, attached.field), attached.bytes) : text;
}

function connectionClosed(reason: CloseReason): ExecError {
  return new ExecError('connectionClosed', `The connection ended: ${reason.message}.`);
}
