/** Each search is a program that uses a whole core. */
const AT_A_TIME = 2;

/** Lets a connection do only a few searches at a time, however many it asks for; the others wait. */
export class SearchTurns {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async run<Result>(search: () => Promise<Result>): Promise<Result> {
    if (this.#running === AT_A_TIME) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await search();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
