import { type InputQueue, QueuedInput, type ServerInput } from '../../contract/index.js';
import { type ByteBudget, type LineAccount, SHARE_BYTES } from '../../rpc/index.js';

/** The input that a session's programs have not read, as part of what its connection may hold. */
export class SessionInput {
  readonly #queued: QueuedInput;
  readonly #budget: ByteBudget;
  #account: LineAccount | undefined;

  constructor({ input, budget }: { input: ServerInput; budget: ByteBudget }) {
    this.#queued = new QueuedInput(input);
    this.#budget = budget;
  }

  /** From here on, this connection accounts for it. */
  attach(account: LineAccount): void {
    this.#account = account;
    account.count(() => this.#queued.beyondShares);
  }

  detach(): void {
    this.#account = undefined;
  }

  /** Call right before queueing input: rejects it if too much is held already for programs that do not read. */
  requireRoom(process: InputQueue, bytes: number): void {
    this.#queued.requireRoom(process, bytes, () => this.#free());
  }

  /** The session uses a process that others may have written to. */
  count(process: InputQueue): void {
    this.#queued.count(process);
  }

  forget(processId: string): void {
    this.#queued.forget(processId);
  }

  #free(): number {
    const free = this.#account?.free ?? 0;
    return this.#budget.tight ? Math.min(free, SHARE_BYTES - this.#queued.beyondShares) : free;
  }
}
