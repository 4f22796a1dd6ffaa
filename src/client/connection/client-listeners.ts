/** Hears about notifications and changes of the connection. */
export interface ClientListener {
  /** `bytes`: of the bulky member, if they came separately. */
  notified?(method: string, params: unknown, bytes?: Uint8Array): void;
  /** There is a new connection; whatever belonged to the old one is gone. */
  online?(): void;
  /** The connection was lost and is being restored. */
  offline?(): void;
  /** It could not be restored. The next call opens a new session. */
  lost?(): void;
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

  notified(method: string, params: unknown, bytes?: Uint8Array): void {
    for (const listener of [...this.#all]) listener.notified?.(method, params, bytes);
  }

  tell(what: 'online' | 'offline' | 'lost' | 'ended'): void {
    for (const listener of [...this.#all]) listener[what]?.();
  }
}
