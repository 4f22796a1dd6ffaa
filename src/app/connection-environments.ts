import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/index.js';
import type { AppEnvironments } from './environments.js';

/** The environments one connection uses, each opened at its first use and closed with the connection. */
export class ConnectionEnvironments {
  readonly #source: AppEnvironments;
  readonly #current = new Map<string | undefined, Promise<Environment>>();
  /** Replaced under their id, but with processes that still run. */
  readonly #retired: Promise<Environment>[] = [];
  #closed = false;

  constructor(source: AppEnvironments) {
    this.#source = source;
  }

  get(environmentId: string | null | undefined): Promise<Environment> {
    const id = environmentId ?? undefined;
    if (this.#closed) return Promise.reject(new ExecError('connectionClosed', 'The connection has ended.'));
    const known = this.#current.get(id);
    if (known) return known;
    const opening = this.#source.open(id);
    this.#current.set(id, opening);
    // One that could not be reached is tried again by the next request.
    opening.catch(() => {
      if (this.#current.get(id) === opening) this.#current.delete(id);
    });
    return opening;
  }

  /** The next request for this id opens it anew. */
  retire(environmentId: string): void {
    const old = this.#current.get(environmentId);
    this.#current.delete(environmentId);
    if (old) this.#retired.push(old);
  }

  /** Ends everything that was started. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const opened = [...this.#current.values(), ...this.#retired];
    await Promise.allSettled(opened.map(async (opening) => await (await opening).close()));
  }
}
