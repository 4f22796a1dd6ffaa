import type { Machine } from './machine.js';
import { Store } from './store.js';

/** The machine that somebody wants to start a process on. */
export const starting = new Store<Machine | null>(null);
