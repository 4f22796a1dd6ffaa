import { ExecError } from '../protocol/errors.js';
import { binaryMessage } from './binary-frame.js';
import type { OutgoingMessage } from './channel.js';
import { frameHeader, type IncomingMessage, requestText } from './message.js';
import type { Outbox } from './outbox.js';
import { type CallDeadline, PendingCalls } from './pending-calls.js';
import { errorFromWire } from './wire-errors.js';
import { type Attachment, WithBytes } from './with-bytes.js';

/** How long a call may take, and the bytes sent with it where the other side accepts them. */
export interface PeerCallOptions extends CallDeadline {
  readonly attached?: Attachment;
}

/** An answer to a call: a result or an error. */
export type IncomingAnswer = Extract<IncomingMessage, { kind: 'result' | 'error' }> & {
  readonly attached?: Attachment;
};

/** Numbers outgoing calls and matches their answers. */
export class OutgoingCalls {
  readonly #outbox: Outbox;
  readonly #pending = new PendingCalls();
  #nextId = 1;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Whether an answer is still to come. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  /** Rejects with `requestTimeout`, `aborted`, or the error passed to `rejectAll`. */
  call(method: string, params: unknown, options: PeerCallOptions): Promise<unknown> {
    if (options.signal?.aborted) return Promise.reject(new ExecError('aborted', `${method} was given up.`));
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = this.#pending.wait(String(id), method, options);
    this.#outbox.send(withAttachment(requestText(id, method, params), options.attached));
    return answer;
  }

  /** False if there was no such call. The answer to one that was given up is ignored. */
  settle(message: IncomingAnswer): boolean {
    const call = this.#pending.get(message.id);
    if (!call) return this.#wasMade(message.id);
    if (message.kind === 'result') {
      const { result, attached } = message;
      // A frame is accepted only if `result` is an object.
      call.resolve(attached ? new WithBytes(attached.field, attached.bytes, Object(result)) : result);
    } else {
      call.reject(errorFromWire(message.error));
    }
    return true;
  }

  #wasMade(id: IncomingAnswer['id']): boolean {
    return /^[1-9]\d*$/.test(id) && Number(id) < this.#nextId;
  }

  rejectAll(error: ExecError): void {
    this.#pending.rejectAll(error);
  }
}

function withAttachment(text: string, attached: Attachment | undefined): OutgoingMessage {
  return attached ? binaryMessage(frameHeader(text, attached.field), attached.bytes) : text;
}
