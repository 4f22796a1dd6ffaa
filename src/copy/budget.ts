/** Limits how much is in flight at a time. First come, first served. */
export class Budget {
  readonly #total: () => number;
  #taken = 0;
  readonly #waiting: { readonly share: number; readonly go: () => void }[] = [];

  /** The total may change over time. */
  constructor(total: number | (() => number)) {
    this.#total = typeof total === 'number' ? () => total : total;
  }

  /** Runs work as soon as there is room for it. An amount above the total runs alone. */
  async spend<Value>(amount: number, work: () => Promise<Value>): Promise<Value> {
    const share = Math.min(amount, this.#total());
    await this.#take(share);
    try {
      return await work();
    } finally {
      this.#taken -= share;
      this.#admit();
    }
  }

  async #take(share: number): Promise<void> {
    if (this.#waiting.length === 0 && this.#taken + share <= this.#total()) {
      this.#taken += share;
      return;
    }
    await new Promise<void>((go) => this.#waiting.push({ share, go }));
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      // The total may have shrunk below this share, which then runs alone.
      if (this.#taken > 0 && this.#taken + next.share > this.#total()) return;
      this.#taken += next.share;
      this.#waiting.shift();
      next.go();
    }
  }
}
