import type { OrderKey, PathOrder } from '../protocol/index.js';
import { BytesResult } from './bytes-result.js';

/** A running task and the path others must wait for. */
interface Claim extends PathOrder {
  readonly settled: Promise<void>;
  /** A later change at or above its path waits for it: whatever changes anything waits for that one instead. */
  isCovered: boolean;
}

/**
 * Runs tasks with the same key in order of arrival, and all others concurrently. A task that has nothing to wait for
 * runs synchronously.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  /** Paths being modified, in order of arrival. */
  readonly #changes = new Set<Claim>();
  /** Paths being read. Thousands may be waiting for earlier answers to be read, so they are indexed by path. */
  readonly #reads = new Map<string, Set<Claim>>();

  run<Value>(
    order: OrderKey | readonly OrderKey[] | undefined,
    task: () => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const keys = order === undefined ? [] : isList(order) ? order : [order];
    const before = keys.flatMap((key) => this.#blockersOf(key));
    const outcome = before.length === 0 ? task() : Promise.all(before).then(task);
    if (keys.length > 0 && outcome instanceof Promise) this.#occupy(keys, outcome);
    return outcome;
  }

  #blockersOf(key: OrderKey): Promise<void>[] {
    if (typeof key !== 'string') return this.#blockingClaims(key).map(({ settled }) => settled);
    const tail = this.#tails.get(key);
    return tail === undefined ? [] : [tail];
  }

  #blockingClaims({ path, changes }: PathOrder): Claim[] {
    const reads = changes ? this.#reads.get(path) : undefined;
    if (this.#changes.size === 0) return reads ? [...reads] : [];
    if (!changes) return [...this.#changes].filter((claim) => claim.path === path);
    const blocking = [...(reads ?? [])];
    let isAboveFound = false;
    for (const claim of [...this.#changes].toReversed()) {
      if (claim.isCovered) continue;
      if (isAtOrBelow(claim.path, path)) blocking.push(claim);
      // Of those above, each waits for the ones before it, so the last will do.
      else if (!isAboveFound && isAtOrBelow(path, claim.path)) isAboveFound = blocking.push(claim) > 0;
    }
    return blocking;
  }

  #occupy(keys: readonly OrderKey[], outcome: Promise<unknown>): void {
    const settled = outcome.then(
      (value) => (value instanceof BytesResult ? value.done : undefined),
      () => undefined,
    );
    for (const key of keys) {
      if (typeof key === 'string') this.#occupyLane(key, settled);
      else this.#occupyPath(key, settled);
    }
  }

  #occupyLane(key: string, settled: Promise<void>): void {
    const tail = settled.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
  }

  #occupyPath({ path, changes }: PathOrder, settled: Promise<void>): void {
    const claim: Claim = { path, changes, settled, isCovered: false };
    if (changes) {
      for (const earlier of this.#changes) earlier.isCovered ||= isAtOrBelow(earlier.path, path);
      this.#changes.add(claim);
      void settled.then(() => this.#changes.delete(claim));
      return;
    }
    const reads = this.#reads.get(path) ?? new Set();
    this.#reads.set(path, reads.add(claim));
    void settled.then(() => {
      reads.delete(claim);
      if (reads.size === 0 && this.#reads.get(path) === reads) this.#reads.delete(path);
    });
  }
}

function isList(order: OrderKey | readonly OrderKey[]): order is readonly OrderKey[] {
  return Array.isArray(order);
}

/** Paths may be long, and many are compared: the contents only if nothing else tells. */
function isAtOrBelow(path: string, directory: string): boolean {
  if (path.length <= directory.length) return path === directory;
  return directory === '/' || (path[directory.length] === '/' && path.startsWith(directory));
}
