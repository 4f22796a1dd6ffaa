import { ExecError } from '../protocol/errors.js';
import { ALWAYS_BYTES, beyondAlways, type InputQueue, type ServerInput } from './server-input.js';

/** Beyond this much queued input, the answer to a write waits until the program has read some. */
export const STDIN_SOFT_LIMIT_BYTES = 1024 * 1024;

/** Queued input of a program that its connection does not account for: what is answered before it is read, plus one write. */
const SHARE_BYTES = 2 * STDIN_SOFT_LIMIT_BYTES;
/** All shares of a session together, so that the number of programs does not matter. Enough for 128 full ones. */
const MAX_SHARED_BYTES = 256 * 1024 * 1024;
/** What a session may still queue when the server as a whole has no room, so that programs that read get their input. */
const LAST_BYTES = STDIN_SOFT_LIMIT_BYTES;

/** The input that programs of a session, or of an app server's connection, have not read. */
export class QueuedInput {
  /** Programs that have more than they always may. Those that have read it are still in here for a while. */
  readonly #behind = new Map<string, InputQueue>();
  readonly #server: ServerInput;

  constructor(server: ServerInput) {
    this.#server = server;
  }

  /** What the connection has to account for. */
  get beyondShares(): number {
    return this.#sum((queued) => queued - SHARE_BYTES);
  }

  /** Call right before queueing: rejects input for programs that do not read. `free`: what the connection has room for. */
  requireRoom(process: InputQueue, bytes: number, free: () => number): void {
    const before = process.queuedInputBytes;
    const after = before + bytes;
    if (after <= ALWAYS_BYTES) return;
    const shared = sharedOf(after) - sharedOf(before);
    const beyond = Math.min(bytes, after - SHARE_BYTES);
    const added = beyondAlways(after) - beyondAlways(before);
    const fits =
      (shared === 0 || shared <= MAX_SHARED_BYTES - this.#sum(sharedOf)) && (beyond <= 0 || beyond <= free());
    if (!fits)
      throw new ExecError(
        'stdinFull',
        'The processes of the session do not read their input and the queues are full.',
      );
    if (!this.#server.hasRoom(added) && this.#sum(beyondAlways) + added > LAST_BYTES)
      throw new ExecError(
        'stdinFull',
        'The processes of the server do not read their input and the queues are full.',
      );
    this.#server.add(process, added);
    this.#behind.set(process.processId, process);
  }

  /** The session uses a process that others may have written to. */
  count(process: InputQueue): void {
    if (process.queuedInputBytes > ALWAYS_BYTES) this.#behind.set(process.processId, process);
  }

  forget(processId: string): void {
    this.#behind.delete(processId);
  }

  #sum(part: (queued: number) => number): number {
    let sum = 0;
    for (const [id, process] of this.#behind) {
      const queued = process.queuedInputBytes;
      if (queued <= ALWAYS_BYTES) this.#behind.delete(id);
      else sum += Math.max(0, part(queued));
    }
    return sum;
  }
}

/** The part of a queue that counts towards the shares of all. */
function sharedOf(queued: number): number {
  return Math.max(0, Math.min(queued, SHARE_BYTES) - ALWAYS_BYTES);
}
