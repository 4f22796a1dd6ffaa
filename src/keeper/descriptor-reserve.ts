import { closeSync, openSync } from 'node:fs';

/** Starting a server takes two, both ends of its connection. The others are for what Node opens meanwhile. */
const RESERVED = 4;

/** Descriptors held in reserve, so that the next server can be started even if all others are in use. */
export class DescriptorReserve {
  readonly #set: number[] = [];

  constructor() {
    this.#fill();
  }

  /** Frees the reserve while `act` runs. */
  use<Result>(act: () => Result): Result {
    for (const fd of this.#set.splice(0)) closeSync(fd);
    try {
      return act();
    } finally {
      this.#fill();
    }
  }

  /** Refills the reserve as far as possible. */
  #fill(): void {
    try {
      while (this.#set.length < RESERVED) this.#set.push(openSync('/dev/null', 'r'));
    } catch {
      // Some may be closed before it is used again.
    }
  }
}
