/** What a connection has to say beside answers and the events of processes. */
export interface ClientListener {
  notified?(method: string, params: unknown): void;
  /** There is a new connection: what belonged to the old one is gone. */
  online?(): void;
  /** The connection was lost, and another one is being made. */
  offline?(): void;
  /** There will be none any more. */
  ended?(): void;
}

/** Who wants to be told. A listener may stop listening while it is being told something. */
export class ClientListeners {
  readonly #all = new Set<ClientListener>();

  /** Returns how to stop. */
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
