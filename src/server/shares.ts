import { createHash, randomBytes } from 'node:crypto';
import { ExecError } from '../protocol/index.js';
import { after } from '../protocol/max-timer.js';
import type { DurableState } from './durable/durable-state.js';
import type { ShareRecord } from './durable/records.js';
import type { ServerLog } from './log.js';

/** Shares a server has at a time. */
const MAX_SHARES = 1024;
/** Distinguishes tokens of shares from those that open the whole server. */
const PREFIX = 'execwire-share-';
const TOKEN_BYTES = 32;
const ID_BYTES = 4;

/** Leave to view one process. */
export interface Share {
  readonly id: string;
  readonly owner: string;
  readonly processId: string;
  /** The process itself: another one may get its id. */
  readonly process: object;
  /** On the clock of this process, which nobody sets. */
  readonly expiresAt: number;
  /** Called once, when it is no longer valid, or soon if it is not. */
  onOver(listener: () => void): () => void;
}

interface Entry extends Share {
  readonly listeners: Set<() => void>;
  /** Nothing need end it any more. */
  readonly stop: () => void;
}

/** What can be shared. */
interface Shareable {
  readonly owner: string;
  readonly process: { readonly processId: string; readonly startedAtMs: number };
  onForgotten(listener: () => void): () => void;
}

/** Where shares are noted that may outlive this server. */
type ShareNotes = Pick<DurableState, 'noteShare' | 'forget'>;

/** Who may view which process besides its owner. Of the tokens, only hashes are kept. */
export class Shares {
  readonly #log: ServerLog;
  readonly #notes: ShareNotes | null;
  /** By the hash of their tokens. */
  readonly #entries = new Map<string, Entry>();

  constructor(log: ServerLog, notes: ShareNotes | null) {
    this.#log = log;
    this.#notes = notes;
  }

  create(kept: Shareable, forMs: number): { share: Share; token: string } {
    if (this.#entries.size >= MAX_SHARES)
      throw new ExecError('overloaded', 'The server has reached its limit of shares. Revoke some.');
    const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
    const [hash, id] = [hashOf(token), randomBytes(ID_BYTES).toString('hex')];
    const share = this.#add(kept, { hash, id, forMs });
    const { owner, processId } = share;
    const { startedAtMs } = kept.process;
    const record = { id, owner, processId, startedAtMs, forMs, expiresAtMs: Date.now() + forMs };
    this.#notes?.noteShare(hash, record);
    this.#log.info({ share: id, process: processId }, 'a process was shared');
    return { share, token };
  }

  /** Continues with a share that an earlier server made. */
  adopt(kept: Shareable, hash: string, { id, forMs, expiresAtMs }: ShareRecord): void {
    // Whatever happened to the clock in the meantime, it is not valid for longer than intended.
    const leftMs = Math.min(forMs, expiresAtMs - Date.now());
    if (leftMs > 0) this.#add(kept, { hash, id, forMs: leftMs });
    else this.#notes?.forget(`share ${hash}`);
  }

  #add(kept: Shareable, { hash, id, forMs }: { hash: string; id: string; forMs: number }): Entry {
    const { owner, process } = kept;
    const { processId } = process;
    const listeners = new Set<() => void>();
    const stopTimer = after(forMs, () => this.#end(hash, 'a share has expired'));
    // It would keep all that is left of the process in memory.
    const stopWaiting = kept.onForgotten(() => this.#end(hash, 'a share ended with its process'));
    let isOver = false;
    const share: Entry = {
      id,
      owner,
      processId,
      process,
      expiresAt: performance.now() + forMs,
      listeners,
      stop: () => {
        isOver = true;
        stopTimer();
        stopWaiting();
      },
      onOver: (listener) => {
        // A client that has just connected with it may not be ready to be told yet.
        if (isOver) queueMicrotask(listener);
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    this.#entries.set(hash, share);
    return share;
  }

  /** The share a token stands for; null if it is not, or no longer, one of ours; undefined if it is not a share token. */
  find(token: string): Share | null | undefined {
    if (!token.startsWith(PREFIX)) return undefined;
    const share = this.#entries.get(hashOf(token));
    return share && performance.now() < share.expiresAt ? share : null;
  }

  of(owner: string): Share[] {
    return [...this.#entries.values()].filter((share) => share.owner === owner);
  }

  /** Its viewers are disconnected. Returns false if there is no such share. */
  revoke(owner: string, id: string): boolean {
    for (const [hash, share] of this.#entries)
      if (share.owner === owner && share.id === id) return this.#end(hash, 'a share was revoked');
    return false;
  }

  close(): void {
    for (const hash of [...this.#entries.keys()]) this.#end(hash, 'a share ended with the server');
  }

  #end(hash: string, why: string): boolean {
    const share = this.#entries.get(hash);
    if (!share) return false;
    this.#entries.delete(hash);
    share.stop();
    this.#notes?.forget(`share ${hash}`);
    this.#log.info({ share: share.id, process: share.processId }, why);
    for (const listener of [...share.listeners]) listener();
    return true;
  }
}

/** Looking up a hash takes as long for a good guess as for a bad one. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
