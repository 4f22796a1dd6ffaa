import { ExecError, type ExecServerNotifications, type execServerRequests } from '../../protocol/index.js';
import type { CallDeadline, RpcPeer } from '../../rpc/index.js';

/** Questions to a client at a time; the same as Codex. */
const MAX_QUESTIONS = 256;

/** Requests and notifications from a server to its client. None are queued for a client that does not read. */
export class ClientMessages {
  /** The client announced that it answers questions about hosts. */
  answersQuestions = false;
  readonly #peer: RpcPeer;
  #questions = 0;

  constructor(peer: RpcPeer) {
    this.#peer = peer;
  }

  /** Rejects if there is no answer in time, or too many questions are open. */
  async ask(
    method: keyof typeof execServerRequests,
    params: object,
    deadline: CallDeadline,
  ): Promise<unknown> {
    if (this.#questions >= MAX_QUESTIONS || this.#peer.outbox.full)
      throw new ExecError('aborted', 'The client has too many unanswered questions.');
    this.#questions += 1;
    try {
      return await this.#peer.call(method, params, deadline);
    } finally {
      this.#questions -= 1;
    }
  }

  /** Dropped if the client does not read. */
  tell(method: keyof ExecServerNotifications, params: object): void {
    if (!this.#peer.outbox.full) this.#peer.notify(method, params);
  }
}
