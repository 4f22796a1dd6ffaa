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
  /** Paths in use. No more than a connection has requests under way, so a look at each is cheap enough. */
  readonly #claims = new Set<Claim>();

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
    if (typeof key !== 'string')
      return [...this.#claims].filter((claim) => mustWait(key, claim)).map(({ settled }) => settled);
    const tail = this.#tails.get(key);
    return tail === undefined ? [] : [tail];
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
    this.#claims.add(claim);
    void settled.then(() => this.#claims.delete(claim));
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
