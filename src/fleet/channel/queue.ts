/** A first-in, first-out queue whose `shift` takes constant time however long it is. */
export class Queue<Item> {
  #items: Item[] = [];
  #start = 0;

  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#start];
    if (this.#start === this.#items.length) return undefined;
    this.#start += 1;
    if (this.#start > 64 && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#start = 0;
  }

  *values(): Generator<Item> {
    for (let index = this.#start; index < this.#items.length; index += 1) yield this.#items[index] as Item;
  }
}
