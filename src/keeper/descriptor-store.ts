import { closeSync } from 'node:fs';

/** The descriptors under one key. */
export interface Held {
  readonly descriptors: Map<string, number>;
  spoiled: boolean;
}

/** Descriptors by key and name. */
export class DescriptorStore {
  readonly #held = new Map<string, Held>();

  get entries(): ReadonlyMap<string, Held> {
    return this.#held;
  }

  /** Takes ownership of the descriptors. If some did not arrive, the key is marked as spoiled. */
  hold(key: string, names: readonly string[], descriptors: readonly number[]): void {
    const held = this.#held.get(key) ?? { descriptors: new Map<string, number>(), spoiled: false };
    this.#held.set(key, held);
    for (const [index, name] of names.entries()) {
      const fd = descriptors[index];
      if (fd === undefined) held.spoiled = true;
      else this.#put(held, name, fd);
    }
  }

  letGo(key: string, name?: string): void {
    const held = this.#held.get(key);
    if (!held) return;
    const names = name === undefined ? [...held.descriptors.keys()] : [name];
    for (const each of names) this.#drop(held, each);
    if (name === undefined) this.#held.delete(key);
  }

  spoil(key: string): void {
    const held = this.#held.get(key) ?? { descriptors: new Map<string, number>(), spoiled: true };
    held.spoiled = true;
    this.#held.set(key, held);
  }

  #put(held: Held, name: string, fd: number): void {
    this.#drop(held, name);
    held.descriptors.set(name, fd);
  }

  #drop(held: Held, name: string): void {
    const fd = held.descriptors.get(name);
    if (fd !== undefined) closeSync(fd);
    held.descriptors.delete(name);
  }
}
