import type { ChangeSetInfo, ChangesUpdate } from '../../contract/index.js';
import type { Sandbox } from '../../protocol/index.js';
import type { ChangeSets } from './change-sets.js';
import { GrowthReports } from './growth-reports.js';
import type { HeldSet } from './held-set.js';
import type { HeldUse, UseRequest } from './held-use.js';
import { OwnedSet } from './owned-set.js';
import type { ChangesSupport } from './support.js';

/** Whose sets are meant. */
export interface ChangesOwner {
  /** Sets with the lease `session` belong to it. Absent: there are none. */
  readonly session?: string | undefined;
  /** Sets that are kept belong to it. */
  readonly client: string;
  /** The name under which it shares the room for all sets with other clients. Absent: it may take all of that. */
  readonly share?: string | undefined;
}

/** The held changes of one client. */
export class OwnedChanges {
  readonly #sets: ChangeSets;
  readonly #owner: () => ChangesOwner;

  /** `owner` is asked each time: a session may change hands. */
  constructor(sets: ChangeSets, owner: () => ChangesOwner) {
    this.#sets = sets;
    this.#owner = owner;
  }

  support(): Promise<ChangesSupport> {
    return this.#sets.support();
  }

  /** Makes the files of a set ready for a program or a file operation under this policy. */
  use(sandbox: Sandbox, place: Pick<UseRequest, 'cwd' | 'temporary' | 'isBrief'>): Promise<HeldUse> {
    const { session, client, share } = this.#owner();
    const isKept = session === undefined || sandbox.changesLease === 'kept';
    return this.#sets.use({
      ...place,
      sandbox: isKept ? { ...sandbox, changesLease: 'kept' } : sandbox,
      owner: isKept ? client : session,
      share,
      owners: this.#owners,
    });
  }

  /**
   * Calls `listener` when one of these sets may have grown: a program in it has ended, a file operation has changed it, or it
   * takes up more room while programs run. Returns an unsubscribe function. `isWanted`: whether it is worth counting.
   */
  watch(listener: (update: ChangesUpdate) => void, isWanted: () => boolean = () => true): () => void {
    const reports = new WeakMap<HeldSet, GrowthReports>();
    let isOver = false;
    const stop = this.#sets.watch((set, growth) => {
      if (!this.#owners.includes(set.record.owner) || !isWanted()) return;
      const own =
        reports.get(set) ??
        new GrowthReports(new OwnedSet(this.#sets, set), (update) => {
          if (!isOver) listener(update);
        });
      reports.set(set, own);
      own.add(growth);
    });
    return () => {
      isOver = true;
      stop();
    };
  }

  list(): ChangeSetInfo[] {
    return this.#sets.list(this.#owners).map(({ record, running, meter }) => ({
      changesId: record.changesId,
      lease: record.lease,
      createdAtMs: record.createdAtMs,
      roots: record.roots.map(({ path }) => path),
      running,
      ...meter.size,
      isFull: meter.isFull,
    }));
  }

  /** Throws `changesNotFound`. */
  get(changesId: string): OwnedSet {
    return new OwnedSet(this.#sets, this.#sets.find(changesId, this.#owners));
  }

  /** The session is over. */
  async close(): Promise<void> {
    const { session } = this.#owner();
    if (session !== undefined) await this.#sets.ownerGone(session);
  }

  get #owners(): string[] {
    const { session, client } = this.#owner();
    return session === undefined ? [client] : [session, client];
  }
}
