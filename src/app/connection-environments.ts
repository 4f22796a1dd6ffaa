import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/index.js';
import type { AppEnvironments } from './environments.js';

/** The environments of one connection, each opened on first use and closed with the connection. */
export class ConnectionEnvironments {
  readonly #source: AppEnvironments;
  readonly #current = new Map<string | undefined, Promise<Environment>>();
  /** Replaced by another environment with the same id, but with processes still running. */
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
    // After a failure, the next request tries again.
    opening.catch(() => {
      if (this.#current.get(id) === opening) this.#current.delete(id);
    });
    return opening;
  }

  /** Makes the next request for this id open it again. */
  retire(environmentId: string): void {
    const old = this.#current.get(environmentId);
    this.#current.delete(environmentId);
    if (old) this.#retired.push(old);
  }

  /** Ends everything started in them. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const opened = [...this.#current.values(), ...this.#retired];
    await Promise.allSettled(opened.map(async (opening) => await (await opening).close()));
  }
}
