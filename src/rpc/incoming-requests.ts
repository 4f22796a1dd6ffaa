import { AnswerSlot, AnswerQueue, MAX_UNREAD_BYTES } from './answer-queue.js';
import { type ByteBudget, SHARE_BYTES } from './byte-budget.js';
import { BytesResult } from './bytes-result.js';
import { errorText, type IncomingMessage, type RawId, resultText, UNKNOWN_ID } from './message.js';
import type { LineAccount } from './line-account.js';
import type { Outbox } from './outbox.js';
import { PART_BYTES } from './part-buffers.js';
import { RequestsInProgress } from './requests-in-progress.js';
import { sendBytes } from './send-bytes.js';
import type { Attachment } from './with-bytes.js';

export type IncomingRequest = Extract<IncomingMessage, { kind: 'request' }> & {
  readonly attached?: Attachment;
};

/** Returns the result of a request or a promise of it; see `PeerHandler`. */
export type RequestHandler = (
  method: string,
  params: unknown,
  attached: Attachment | undefined,
  context: { readonly slot: AnswerSlot; readonly trace: string | undefined },
) => unknown;

export interface IncomingRequestsOptions {
  readonly outbox: Outbox;
  /** When nothing is free, a client must read answers to ask more. */
  readonly account: LineAccount;
  /** Shared by all connections of a server. */
  readonly budget: ByteBudget;
  readonly handle: RequestHandler;
  /** Whether the other side may send the same request again. */
  readonly isRepeatable: (method: string) => boolean;
  /** Whether the other side currently accepts binary frames. */
  readonly sendsBytes: () => boolean;
  /** Called when `busy` may have changed. */
  readonly changed: () => void;
  /** Ends the channel immediately. */
  readonly destroy: (reason: string) => void;
}

/** Passes incoming requests to a handler and sends the answers. */
export class IncomingRequests {
  readonly #options: IncomingRequestsOptions;
  readonly #queue: AnswerQueue;
  readonly #requests: RequestsInProgress;
  #closed = false;

  constructor(options: IncomingRequestsOptions) {
    this.#options = options;
    this.#queue = new AnswerQueue(options.outbox, options.budget);
    this.#requests = new RequestsInProgress(options.budget, options.changed);
  }

  /** Whether no further requests should be read: too many are in progress, or too many answers are unread. */
  get busy(): boolean {
    const { outbox, account, budget } = this.#options;
    const { pendingBytes } = outbox;
    return (
      this.#requests.full ||
      (pendingBytes >= MAX_UNREAD_BYTES && account.free === 0) ||
      (pendingBytes + this.#requests.bytes >= SHARE_BYTES && budget.tight)
    );
  }

  /** How many requests are in progress that must be answered. */
  get unrepeatable(): number {
    return this.#requests.unrepeatable;
  }

  /** The requests in progress that another server could answer, in the order they came; null if one was not kept. */
  get repeatable(): (string | Uint8Array)[] | null {
    return this.#requests.repeatable;
  }

  answer({ id, method, params, attached, trace }: IncomingRequest, raw: string | Uint8Array): void {
    const request = this.#requests.add(raw, { isRepeatable: this.#options.isRepeatable(method) });
    const slot = new AnswerSlot(this.#queue, () => request.releaseBytes());
    let outcome: unknown;
    try {
      outcome = this.#options.handle(method, params, attached, { slot, trace });
    } catch (error) {
      slot.release();
      this.#reply(errorText(id, error));
      return;
    }
    if (!(outcome instanceof Promise)) {
      void this.#sendResult(id, outcome, slot);
      return;
    }
    request.begin();
    outcome
      .then(
        (result) => this.#sendResult(id, result, slot),
        (error: unknown) => this.#reply(errorText(id, error)),
      )
      // The result cannot be serialised, for example because it is too long for one string.
      .catch((error: unknown) => this.#reply(errorText(id, error)))
      .finally(() => {
        slot.release();
        request.finish();
      });
  }

  /** Answers a message that could not be parsed. */
  refuse(error: unknown): void {
    this.#reply(errorText(UNKNOWN_ID, error));
  }

  /** Retries answers that are waiting for room. */
  retryWaiting(): void {
    this.#queue.retry();
  }

  close(): void {
    this.#closed = true;
    this.#queue.close();
  }

  #sendResult(id: RawId, result: unknown, slot: AnswerSlot): void | Promise<void> {
    if (!(result instanceof BytesResult)) {
      const text = resultText(id, result);
      this.#reply(text);
      return slot.release(text.length);
    }
    const { bytes } = result;
    const { outbox, sendsBytes, destroy } = this.#options;
    // Half an answer can be neither withdrawn nor turned into an error.
    return sendBytes({ outbox, asFrame: sendsBytes() }, id, result)
      .catch(() => destroy('the bytes of an answer could not be read'))
      .finally(() => slot.release(bytes instanceof Uint8Array ? bytes.length : PART_BYTES));
  }

  /** Notifies even for immediate answers: unread answers must stop further requests from being read. */
  #reply(text: string): void {
    if (!this.#closed) this.#options.outbox.send(text);
    this.#options.changed();
  }
}
