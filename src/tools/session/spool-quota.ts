const MIB = 1024 * 1024;
/** Disk space for all output together: enough for a few large logs, and no surprise for the disk's owner. */
export const DEFAULT_SPOOL_QUOTA_BYTES = 1024 * MIB;
/** Always granted, so that old output cannot leave a new session without a log. */
const GUARANTEED_BYTES = MIB;

/** Output that has a spool file. */
export interface SpoolOwner {
  /** The time in milliseconds since when the output is no longer needed; null while it is. */
  expendableSince(): number | null;
  /** Deletes the spool file. */
  dropSpool(): void;
}

/** Shares disk space among sessions. When it runs out, finished sessions lose theirs, least recently used first. */
export class SpoolQuota {
  readonly #limit: number;
  readonly #bytes = new Map<SpoolOwner, number>();
  #used = 0;

  constructor(limitBytes = DEFAULT_SPOOL_QUOTA_BYTES) {
    this.#limit = limitBytes;
  }

  get usedBytes(): number {
    return this.#used;
  }

  /**
   * Requests more space. Returns false if the owner has to make do with what it has.
   *
   * @internal
   */
  grow(owner: SpoolOwner, bytes: number): boolean {
    const held = this.#bytes.get(owner) ?? 0;
    if (held + bytes > GUARANTEED_BYTES) {
      while (this.#used + bytes > this.#limit) {
        const victim = this.#leastRecentlyUsed(owner);
        if (!victim) return false;
        this.release(victim);
        victim.dropSpool();
      }
    }
    this.#bytes.set(owner, held + bytes);
    this.#used += bytes;
    return true;
  }

  /**
   * Returns all of an owner's space.
   *
   * @internal
   */
  release(owner: SpoolOwner): void {
    this.#used -= this.#bytes.get(owner) ?? 0;
    this.#bytes.delete(owner);
  }

  #leastRecentlyUsed(except: SpoolOwner): SpoolOwner | undefined {
    const candidates = [...this.#bytes.keys()]
      .filter((owner) => owner !== except)
      .map((owner) => ({ owner, since: owner.expendableSince() }))
      .filter((each): each is { owner: SpoolOwner; since: number } => each.since !== null);
    return candidates.sort((a, b) => a.since - b.since)[0]?.owner;
  }
}
