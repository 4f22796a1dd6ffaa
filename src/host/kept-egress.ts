import { closeSync } from 'node:fs';
import type { Namespaces, NetworkSpace, SpacePort } from './network/index.js';

/** Names of the descriptors that belong to a sandbox's egress, besides those of its program. */
const NET = 'network';
const USER = 'network user';
const PORT = 'network port ';

/** What the next server needs to continue an egress. */
export function egressDescriptors(
  { net, user }: Namespaces,
  ports: readonly SpacePort[],
): Record<string, number> {
  return {
    [NET]: net,
    ...(user === null ? {} : { [USER]: user }),
    ...Object.fromEntries(ports.map(({ descriptor }, index) => [`${PORT}${index}`, descriptor])),
  };
}

/** An egress that an earlier server made. Owns its descriptors until they are taken. */
export class KeptEgress {
  readonly #descriptors: Map<string, number>;
  #isFirst = false;

  private constructor(descriptors: Map<string, number>) {
    this.#descriptors = descriptors;
  }

  /** Null if the program had none. */
  static of(descriptors: Readonly<Record<string, number>>): KeptEgress | null {
    const own = Object.entries(descriptors).filter(
      ([name]) => [NET, USER].includes(name) || name.startsWith(PORT),
    );
    return own.length === 0 ? null : new KeptEgress(new Map(own));
  }

  /** Descriptors that have not been claimed. */
  get names(): string[] {
    return [...this.#descriptors.keys()];
  }

  takeNamespaces(): Namespaces {
    this.#isFirst = true;
    const user = this.#descriptors.has(USER) ? this.#take(USER) : null;
    return { net: this.#take(NET), user };
  }

  takeSocket(index: number): number {
    return this.#take(`${PORT}${index}`);
  }

  /** True if this is the network it leads out of. */
  isIn(space: NetworkSpace): boolean {
    const net = this.#descriptors.get(NET);
    return this.#isFirst || (net !== undefined && space.isAt({ net, user: null }));
  }

  /** Closes what has not been claimed. Idempotent. */
  close(): void {
    for (const fd of this.#descriptors.values()) closeSync(fd);
    this.#descriptors.clear();
  }

  #take(name: string): number {
    const fd = this.#descriptors.get(name);
    if (fd === undefined) throw new Error('a descriptor of its network is missing');
    this.#descriptors.delete(name);
    return fd;
  }
}
