import type { NetworkSpace } from './network/index.js';

/** Networks kept for the next program with the same rules. Each has some ports, and no process. */
const MAX_IDLE_SPACES = 4;

/** A network and how many programs use it. */
export interface SharedSpace {
  readonly space: NetworkSpace;
  users: number;
}

/** Networks that programs with the same key share. A few idle ones stay open, because making one takes a while. */
export class SharedSpaces {
  /** Least recently used first. */
  readonly #spaces = new Map<string, SharedSpace>();

  /** The network for this key. Each one acquired must be released. */
  acquire(key: string, make: () => NetworkSpace): SharedSpace {
    const shared = this.#spaces.get(key) ?? { space: make(), users: 0 };
    this.#spaces.delete(key);
    this.#spaces.set(key, shared);
    shared.users += 1;
    return shared;
  }

  release(shared: SharedSpace): void {
    shared.users -= 1;
    const idle = [...this.#spaces].filter(([, { users }]) => users === 0);
    for (const [key, { space }] of idle.slice(0, -MAX_IDLE_SPACES)) {
      this.#spaces.delete(key);
      space.close();
    }
  }

  close(): void {
    for (const { space } of this.#spaces.values()) space.close();
    this.#spaces.clear();
  }
}
