/** Hears about notifications and changes of the connection. */
export interface ClientListener {
  notified?(method: string, params: unknown): void;
  /** There is a new connection; whatever belonged to the old one is gone. */
  online?(): void;
  /** The connection was lost and is being restored. */
  offline?(): void;
  /** There will be no further connection. */
  ended?(): void;
}

/** The listeners of one client. A listener may be removed while it is being called. */
export class ClientListeners {
  readonly #all = new Set<ClientListener>();

  /** Returns an unsubscribe function. */
  add(listener: ClientListener): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  notified(method: string, params: unknown): void {
    for (const listener of [...this.#all]) listener.notified?.(method, params);
  }

  tell(what: 'online' | 'offline' | 'ended'): void {
    for (const listener of [...this.#all]) listener[what]?.();
  }
}
