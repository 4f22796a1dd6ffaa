const MIB = 1024 * 1024;
/** What all outputs together may take on disk: some large ones in full, and no surprise for who owns the disk. */
export const DEFAULT_SPOOL_QUOTA_BYTES = 1024 * MIB;
/** Each output gets this much in any case, so that old ones cannot leave a new one without a log. */
const GRANTED_BYTES = MIB;

/** An output with a file. */
export interface SpoolOwner {
  /** Since when nobody has needed it any more, in milliseconds; null while somebody does. */
  expendableSince(): number | null;
  /** Gives its file up. */
  dropSpool(): void;
}

/** Shares disk space between outputs. When it is used up, finished ones go first, the longest unused before others. */
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
   * Asks for more room. False: what the owner has is all it gets.
   *
   * @internal
   */
  grow(owner: SpoolOwner, bytes: number): boolean {
    const held = this.#bytes.get(owner) ?? 0;
    if (held + bytes > GRANTED_BYTES) {
      while (this.#used + bytes > this.#limit) {
        const victim = this.#longestUnused(owner);
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
   * Takes back what an owner had.
   *
   * @internal
   */
  release(owner: SpoolOwner): void {
    this.#used -= this.#bytes.get(owner) ?? 0;
    this.#bytes.delete(owner);
  }

  #longestUnused(except: SpoolOwner): SpoolOwner | undefined {
    const candidates = [...this.#bytes.keys()]
      .filter((owner) => owner !== except)
      .map((owner) => ({ owner, since: owner.expendableSince() }))
      .filter((each): each is { owner: SpoolOwner; since: number } => each.since !== null);
    return candidates.sort((a, b) => a.since - b.since)[0]?.owner;
  }
}
