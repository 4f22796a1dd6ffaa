import type { Environment } from '../contract/index.js';
import { ExecError, type Sandbox } from '../protocol/index.js';

/** As many sets as a server keeps by default. */
const MAX_SETS = 256;

/**
 * Under which policy the commands of one connection run that hold their changes. Files of a set are read and written under that
 * of its last command: requests for files name none.
 */
export class HeldPolicies {
  /** By set, least recently used first. */
  readonly #policies = new WeakMap<Environment, Map<string, Sandbox>>();

  note(environment: Environment, changesId: string, sandbox: Sandbox): void {
    const policies = this.#policies.get(environment) ?? new Map<string, Sandbox>();
    this.#policies.set(environment, policies);
    policies.delete(changesId);
    policies.set(changesId, { ...sandbox, changesId });
    const [oldest] = policies.keys();
    if (policies.size > MAX_SETS && oldest !== undefined) policies.delete(oldest);
  }

  /** Throws `changesNotFound`. */
  of(environment: Environment, changesId: string): Sandbox {
    const found = this.#policies.get(environment)?.get(changesId);
    if (found !== undefined) return found;
    throw new ExecError('changesNotFound', 'No command of this connection has held changes under this id.', {
      data: { changesId },
    });
  }
}
