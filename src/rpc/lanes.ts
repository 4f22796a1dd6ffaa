import type { OrderKey, PathOrder } from '../protocol/index.js';
import { BytesResult } from './bytes-result.js';

/** A running task and the path others must wait for. */
interface Claim extends PathOrder {
  readonly settled: Promise<void>;
}

/**
 * Runs tasks with the same key in order of arrival, and all others concurrently. A task that has nothing to wait for
 * runs synchronously.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  /** Paths being modified. There are few, so checking each is cheap. */
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

  #blockingClaims(order: PathOrder): Claim[] {
    const changes =
      this.#changes.size === 0 ? [] : [...this.#changes].filter((claim) => mustWait(order, claim));
    const reads = order.changes ? this.#reads.get(order.path) : undefined;
    return reads ? [...changes, ...reads] : changes;
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
    const claim: Claim = { path, changes, settled };
    if (changes) {
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

function mustWait(a: PathOrder, b: PathOrder): boolean {
  if (a.path === b.path) return a.changes || b.changes;
  return a.changes && b.changes && (isBelow(a.path, b.path) || isBelow(b.path, a.path));
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory === '/' ? '/' : `${directory}/`);
}
