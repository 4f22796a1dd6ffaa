import type { JobStore } from './job-store.js';
import type { JobKey } from './job-subjects.js';
import { type KnownAttempt, settleLost } from './settle.js';

/**
 * Gives attempts up whose machines no longer renew their leases. No wall clock matters: a watcher that has seen the same revision
 * for the whole time of a lease, by its own steady clock, breaks exactly that revision. A machine that renews it first makes that
 * fail; one that is late finds it broken, and ended its program long before, halfway through the lease.
 */
export class LeaseWatch {
  readonly #store: JobStore;
  readonly #seen = new Map<string, { attempt: number; id: string; since: number }>();

  constructor(store: JobStore) {
    this.#store = store;
  }

  /** To be called now and then for a running job. Resolves to true if it was given up. */
  async check(key: JobKey, known: KnownAttempt): Promise<boolean> {
    const { running } = known;
    const name = `${key.client}.${key.id}`;
    const { seq, id } = await this.#store.lease(key);
    const now = performance.now();
    const seen = this.#seen.get(name);
    if (seen?.id !== id || seen.attempt !== running.attempt) {
      this.#seen.set(name, { attempt: running.attempt, id, since: now });
      return false;
    }
    if (now - seen.since < running.leaseMs) return false;
    const { attempt, epoch } = running;
    const broken = await this.#store.writeLease(key, { attempt, epoch, broken: true }, { after: seq });
    if (broken === null) return false;
    this.#seen.delete(name);
    await settleLost(this.#store, key, known);
    return true;
  }

  /** Forgets jobs that do not run any more. */
  keepOnly(keys: readonly JobKey[]): void {
    const names = new Set(keys.map(({ client, id }) => `${client}.${id}`));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
  }
}
