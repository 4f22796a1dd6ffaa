/** Somebody who has not shown yet who he is. */
export interface Newcomer {
  /** Where he comes from; newcomers from the same place compete with each other first. */
  readonly origin: string;
  /** Ends his connection. */
  turnAway(): void;
}

export interface NewcomerLimits {
  readonly max: number;
  maxFrom(origin: string): number;
}

/**
 * Bounds how many may be at the door at a time. Whoever is there longest makes room: those who mean it are through in a
 * moment, those who only hold a place have theirs taken. One origin takes places from itself before it does from others.
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

  /** He is gone, or no longer a newcomer. */
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
