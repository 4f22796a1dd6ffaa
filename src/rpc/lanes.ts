import type { OrderKey, PathOrder } from '../protocol/index.js';
import { BytesResult } from './bytes-result.js';

/** A task under way and what has to wait for it. */
interface Claim extends PathOrder {
  readonly settled: Promise<void>;
}

/**
 * Runs tasks that must stay in order with each other in the order they came, and others side by side. A task that has
 * nothing to wait for runs at once, in the same turn.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();
  /** Paths that are being changed: few, so that a look at each is cheap enough. */
  readonly #changes = new Set<Claim>();
  /** Those that are being looked at. Thousands may wait for somebody to read the answers before them. */
  readonly #looks = new Map<string, Set<Claim>>();

  run<Value>(
    order: OrderKey | readonly OrderKey[] | undefined,
    task: () => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const keys = order === undefined ? [] : isList(order) ? order : [order];
    const before = keys.flatMap((key) => this.#inTheWayOf(key));
    const outcome = before.length === 0 ? task() : Promise.all(before).then(task);
    if (keys.length > 0 && outcome instanceof Promise) this.#occupy(keys, outcome);
    return outcome;
  }

  #inTheWayOf(key: OrderKey): Promise<void>[] {
    if (typeof key !== 'string') return this.#claimsInTheWayOf(key).map(({ settled }) => settled);
    const tail = this.#tails.get(key);
    return tail === undefined ? [] : [tail];
  }

  #claimsInTheWayOf(order: PathOrder): Claim[] {
    const changes =
      this.#changes.size === 0 ? [] : [...this.#changes].filter((claim) => mustWait(order, claim));
    const looks = order.changes ? this.#looks.get(order.path) : undefined;
    return looks ? [...changes, ...looks] : changes;
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
    const looks = this.#looks.get(path) ?? new Set();
    this.#looks.set(path, looks.add(claim));
    void settled.then(() => {
      looks.delete(claim);
      if (looks.size === 0 && this.#looks.get(path) === looks) this.#looks.delete(path);
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
