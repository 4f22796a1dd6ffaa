/** A client that has not identified itself yet. */
export interface Newcomer {
  /** Where it connects from. Newcomers of the same origin compete with each other first. */
  readonly origin: string;
  /** Ends its connection. */
  turnAway(): void;
}

export interface NewcomerLimits {
  readonly max: number;
  maxFrom(origin: string): number;
}

/**
 * Limits the number of newcomers. The oldest one makes room: genuine clients identify themselves within moments, and
 * those that merely hold a place lose it. An origin displaces its own newcomers before those of others.
 */
export class Newcomers {
  readonly #limits: NewcomerLimits;
  readonly #byOrigin = new Map<string, Set<Newcomer>>();
  #count = 0;

  constructor(limits: NewcomerLimits) {
    this.#limits = limits;
  }

  add(newcomer: Newcomer): void {
    const others = this.#byOrigin.get(newcomer.origin) ?? new Set();
    this.#byOrigin.set(newcomer.origin, others.add(newcomer));
    this.#count += 1;
    if (others.size > this.#limits.maxFrom(newcomer.origin)) this.#turnAwayOldest(others);
    else if (this.#count > this.#limits.max) this.#turnAwayOldest(this.#largest());
  }

  /** The client is gone or no longer a newcomer. */
  remove(newcomer: Newcomer): void {
    const others = this.#byOrigin.get(newcomer.origin);
    if (!others?.delete(newcomer)) return;
    this.#count -= 1;
    if (others.size === 0) this.#byOrigin.delete(newcomer.origin);
  }

  #turnAwayOldest(group: ReadonlySet<Newcomer>): void {
    const [oldest] = group;
    if (!oldest) return;
    this.remove(oldest);
    oldest.turnAway();
  }

  #largest(): ReadonlySet<Newcomer> {
    let largest: ReadonlySet<Newcomer> = new Set();
    for (const group of this.#byOrigin.values()) if (group.size > largest.size) largest = group;
    return largest;
  }
}
