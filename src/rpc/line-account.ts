/** Bytes that one connection may hold for readers that have stopped, beyond the share that each of them always has. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

/**
 * The one account of what a connection holds: messages that have not left, output and input in flight beyond the first windows,
 * input that programs have not read. Anything that wants to hold more asks here first, so the limit applies to all kinds
 * together.
 */
export class LineAccount {
  readonly #limit: number;
  readonly #sources: (() => number)[] = [];
  /** Lent to windows. */
  #lent = 0;

  constructor(limit: number = MAX_HELD_BYTES) {
    this.#limit = limit;
  }

  /** What may be held in addition. */
  get free(): number {
    let held = this.#lent;
    for (const source of this.#sources) held += source();
    return Math.max(0, this.#limit - held);
  }

  /** From now on, what `source` reports counts as held. */
  count(source: () => number): void {
    this.#sources.push(source);
  }

  /**
   * Exchanges one loan for another. Returns what was lent: less than wanted when little is free, but not less than is
   * in use, because that cannot be returned yet.
   */
  exchange(lent: number, { wanted, inUse }: { wanted: number; inUse: number }): number {
    this.#lent -= lent;
    const granted = Math.max(Math.min(wanted, this.free), Math.min(lent, inUse));
    this.#lent += granted;
    return granted;
  }
}
