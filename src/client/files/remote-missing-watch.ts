import type { MissingWatch } from '../../contract/index.js';
import type { ClientListener } from '../connection/client-listeners.js';
import type { ExecClient } from '../connection/exec-client.js';

interface MissingRequest {
  readonly missing: readonly string[];
  readonly present: string | null;
  readonly signal: AbortSignal | undefined;
}

/** The watch id last used on each client: the protocol has one such watch per connection, with growing ids. */
const lastIds = new WeakMap<ExecClient, number>();

/**
 * A wait for paths of another machine to appear. A connection has one: a newer one takes its place, and a lost
 * connection counts as a change, since what happened meanwhile is unknown.
 */
export class RemoteMissingWatch implements MissingWatch, ClientListener {
  readonly changed: Promise<boolean>;
  readonly #watchId: number;
  readonly #stopListening: () => void;
  #settle: (changed: boolean) => void = () => undefined;

  private constructor(client: ExecClient) {
    this.#watchId = (lastIds.get(client) ?? 0) + 1;
    lastIds.set(client, this.#watchId);
    this.changed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#stopListening = client.listen(this);
  }

  static async open(client: ExecClient, request: MissingRequest): Promise<RemoteMissingWatch | null> {
    const watch = new RemoteMissingWatch(client);
    const { missing, present, signal } = request;
    try {
      const ask = { watchId: watch.#watchId, missing: [...missing], present };
      const { watching } = await client.call('fs/watchMissing', ask, { signal });
      signal?.addEventListener('abort', () => watch.#finish(false), { once: true });
      if (watching) return watch;
      watch.#finish(false);
      return null;
    } catch (error) {
      watch.#finish(false);
      throw error;
    }
  }

  notified(method: string, params: unknown): void {
    if (method !== 'fs/missingChanged' || typeof params !== 'object' || params === null) return;
    if (Reflect.get(params, 'watchId') === this.#watchId) this.#finish(true);
  }

  online(): void {
    this.#finish(true);
  }

  ended(): void {
    this.#finish(false);
  }

  async close(): Promise<void> {
    this.#finish(false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #finish(changed: boolean): void {
    this.#stopListening();
    this.#settle(changed);
  }
}
