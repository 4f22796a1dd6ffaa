import { AnswerPlace, AnswerRoom } from './answer-room.js';
import { type ByteBudget, SHARE_BYTES } from './byte-budget.js';
import { BytesResult } from './bytes-result.js';
import { errorText, type IncomingMessage, type RawId, resultText, UNKNOWN_ID } from './message.js';
import type { Outbox } from './outbox.js';
import { PART_BYTES } from './part-buffers.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { sendBytes } from './send-bytes.js';
import type { Attachment } from './with-bytes.js';

/** Unsent bytes past which no further requests are read: a client must read answers to ask more. */
const MAX_UNREAD_ANSWER_BYTES = 32 * 1024 * 1024;

export type IncomingRequest = Extract<IncomingMessage, { kind: 'request' }> & {
  readonly attached?: Attachment;
};

/** Gives the result of a request, or a promise of it; see `PeerHandler`. */
export type RequestHandler = (
  method: string,
  params: unknown,
  attached: Attachment | undefined,
  context: { readonly place: AnswerPlace; readonly trace: string | undefined },
) => unknown;

export interface IncomingRequestsOptions {
  readonly outbox: Outbox;
  /** What this connection shares with others of the same server. */
  readonly budget: ByteBudget;
  readonly handle: RequestHandler;
  /** Whether the other side takes binary frames by now. */
  readonly sendsBytes: () => boolean;
  /** Called when `busy` may have changed. */
  readonly changed: () => void;
  /** Ends the channel at once. */
  readonly destroy: (reason: string) => void;
}

/** The requests of the other side: hands them to a handler and sends what comes of them. */
export class IncomingRequests {
  readonly #options: IncomingRequestsOptions;
  readonly #room: AnswerRoom;
  readonly #requests: RequestsUnderWay;
  #closed = false;

  constructor(options: IncomingRequestsOptions) {
    this.#options = options;
    this.#room = new AnswerRoom(options.outbox, options.budget);
    this.#requests = new RequestsUnderWay(options.budget, options.changed);
  }

  /** Whether further ones should wait: too many are being answered, or too many answers are unread. */
  get busy(): boolean {
    const { outbox, budget } = this.#options;
    const { pendingBytes } = outbox;
    return (
      this.#requests.full ||
      pendingBytes >= MAX_UNREAD_ANSWER_BYTES ||
      (pendingBytes + this.#requests.bytes >= SHARE_BYTES && budget.tight)
    );
  }

  answer({ id, method, params, attached, trace }: IncomingRequest, bytes: number): void {
    const request = this.#requests.add(bytes);
    const place = new AnswerPlace(this.#room, () => request.setAside());
    let outcome: unknown;
    try {
      outcome = this.#options.handle(method, params, attached, { place, trace });
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

  /** Answers a message that could not be read, whoever sent it. */
  refuse(error: unknown): void {
    this.#reply(errorText(UNKNOWN_ID, error));
  }

  /** There may be room for answers that had to wait. */
  look(): void {
    this.#room.look();
  }

  close(): void {
    this.#closed = true;
    this.#room.close();
  }

  #sendResult(id: RawId, result: unknown, place: AnswerPlace): void | Promise<void> {
    if (!(result instanceof BytesResult)) {
      const text = resultText(id, result);
      this.#reply(text);
      return place.leave(text.length);
    }
    const { bytes } = result;
    const { outbox, sendsBytes, destroy } = this.#options;
    // Half an answer can neither be taken back nor turned into an error.
    return sendBytes({ outbox, asFrame: sendsBytes() }, id, result)
      .catch(() => destroy('the bytes of an answer could not be had'))
      .finally(() => place.leave(bytes instanceof Uint8Array ? bytes.length : PART_BYTES));
  }

  /** Answers that nobody reads must stop the questions, however soon they are given. */
  #reply(text: string): void {
    if (!this.#closed) this.#options.outbox.send(text);
    this.#options.changed();
  }
}
