import { randomBytes } from 'node:crypto';
import { ExecError } from '../protocol/errors.js';
import { after } from '../protocol/max-timer.js';
import { digestOf, newSecret } from './secret.js';

/** How long a link is valid by default, and at most. */
const DEFAULT_LINK_MS = 24 * 60 * 60_000;
const MAX_LINK_MS = 30 * DEFAULT_LINK_MS;
/** Links that are valid at a time. */
const MAX_LINKS = 256;
const ID_BYTES = 6;

/** Leave to look at everything and change nothing. */
export interface ViewLink {
  readonly id: string;
  /** On the clock of this process, which nobody sets. */
  readonly expiresAt: number;
}

/** The links that were handed out. Their keys are kept as digests. */
export class ViewLinks {
  readonly #links = new Map<string, ViewLink & { readonly stopTimer: () => void }>();
  readonly #listeners = new Set<(id: string) => void>();

  /** Makes a link. Its key cannot be asked for again. */
  create(forMs = DEFAULT_LINK_MS): ViewLink & { readonly key: string } {
    if (this.#links.size >= MAX_LINKS)
      throw new ExecError('overloaded', `There are ${MAX_LINKS} links already. Revoke some.`);
    const key = newSecret();
    const validMs = Math.max(0, Math.min(forMs, MAX_LINK_MS));
    const link = { id: randomBytes(ID_BYTES).toString('hex'), expiresAt: performance.now() + validMs };
    const stopTimer = after(validMs, () => this.revoke(link.id));
    this.#links.set(digestOf(key), { ...link, stopTimer });
    return { ...link, key };
  }

  /** The link a key belongs to. */
  find(key: string): ViewLink | undefined {
    return this.#links.get(digestOf(key));
  }

  all(): ViewLink[] {
    return [...this.#links.values()].map(({ id, expiresAt }) => ({ id, expiresAt }));
  }

  /** Revokes a link and signs out all who used it. Returns false if there is none. */
  revoke(id: string): boolean {
    for (const [digest, link] of this.#links) {
      if (link.id !== id) continue;
      link.stopTimer();
      this.#links.delete(digest);
      for (const listener of this.#listeners) listener(id);
      return true;
    }
    return false;
  }

  onRevoked(listener: (id: string) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    for (const { id } of this.all()) this.revoke(id);
  }
}
