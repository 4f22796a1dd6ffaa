/** A share of what may be under way at a time, shared fairly: whoever asks first gets first. */
export class Budget {
  readonly #total: () => number;
  #taken = 0;
  readonly #waiting: { readonly share: number; readonly go: () => void }[] = [];

  /** What there is may change as time goes by. */
  constructor(total: number | (() => number)) {
    this.#total = typeof total === 'number' ? () => total : total;
  }

  /** Does something once there is room for it. What is larger than everything goes alone. */
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
      // What was all there is when it was asked for may be more than that by now.
      if (this.#taken > 0 && this.#taken + next.share > this.#total()) return;
      this.#taken += next.share;
      this.#waiting.shift();
      next.go();
    }
  }
}
