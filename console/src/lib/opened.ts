import { type Inputs, useEffect, useState } from 'preact/hooks';
import { messageOf } from './errors.js';
import { Store, useStore } from './store.js';

/** Something with a lifetime that a view shows. */
interface Opened<State> {
  readonly state: Store<State>;
  close(): void;
}

/** Opens it with the view and closes it with it. Until then, its state is `before`. */
export function useOpened<State, Thing extends Opened<State>>(
  open: () => Thing | undefined,
  before: State,
  inputs: Inputs = [],
): [Thing | undefined, State] {
  const [thing, setThing] = useState<Thing>();
  const [waiting] = useState(() => new Store(before));
  useEffect(() => {
    const opened = open();
    setThing(opened);
    return () => opened?.close();
  }, inputs);
  return [thing, useStore(thing?.state ?? waiting)];
}

/** Loads something for a view. Undefined until it is there. */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: Inputs): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({});
  useEffect(() => {
    let isOver = false;
    load().then(
      (value) => isOver || setLoaded({ value }),
      (error: unknown) => isOver || setLoaded({ problem: messageOf(error) }),
    );
    return () => {
      isOver = true;
    };
  }, inputs);
  return loaded;
}

export interface Loaded<Value> {
  readonly value?: Value;
  readonly problem?: string;
}
