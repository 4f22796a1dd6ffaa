/**
 * Who may do what with a set, and when. Programs enter one after the other; whoever looks at it does not hold them up, as
 * that takes long if much is held. Applying and discarding wait for everybody, and everybody waits for them.
 */
export class SetTurns {
  #entering: Promise<unknown> = Promise.resolve();
  #looking: Promise<unknown> = Promise.resolve();
  #alone: Promise<unknown> = Promise.resolve();

  /** Lets a program in. */
  entering<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#entering.then(work);
    this.#entering = settled(result);
    return result;
  }

  /** One look at a time: they make directories accessible that programs have closed. */
  looking<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.all([this.#looking, this.#alone]).then(work);
    this.#looking = settled(result);
    return result;
  }

  /** Nobody enters or looks meanwhile. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.all([this.#entering, this.#looking]).then(work);
    this.#alone = settled(result);
    this.#entering = this.#alone;
    this.#looking = this.#alone;
    return result;
  }
}

function settled(work: Promise<unknown>): Promise<unknown> {
  return work.catch(() => undefined);
}
