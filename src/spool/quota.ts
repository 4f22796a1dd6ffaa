const MIB = 1024 * 1024;
/** Disk space for all output together: enough for a few large logs, but no surprise for the owner of the disk. */
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
   * Returns some of an owner's space.
   *
   * @internal
   */
  shrink(owner: SpoolOwner, bytes: number): void {
    const held = this.#bytes.get(owner) ?? 0;
    const returned = Math.min(held, bytes);
    this.#bytes.set(owner, held - returned);
    this.#used -= returned;
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
    let oldest: { readonly owner: SpoolOwner; readonly since: number } | undefined;
    for (const owner of this.#bytes.keys()) {
      const since = owner === except ? null : owner.expendableSince();
      if (since !== null && (!oldest || since < oldest.since)) oldest = { owner, since };
    }
    return oldest?.owner;
  }
}
