import { useEffect, useState } from 'preact/hooks';

/** A value that views follow. */
export class Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }

  update(change: (value: Value) => Value): void {
    this.set(change(this.#value));
  }

  /** Returns an unsubscribe function. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Renders again whenever the store has another value. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, render] = useState({});
  const { value } = store;
  useEffect(() => {
    // It may have changed before anybody listened.
    if (!Object.is(store.value, value)) render({});
    return store.subscribe(() => render({}));
  }, [store]);
  return value;
}
