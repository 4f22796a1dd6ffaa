import { setTimeout as pause } from 'node:timers/promises';
import type { FleetEvent } from './control.js';
import type { Machine } from './machine.js';

/** How often to call the roll. A machine that misses two calls in a row is lost: within 5 s. */
const ROLL_CALL_INTERVAL_MS = 2_000;
const MISSES_UNTIL_LOST = 2;
/** Unread events. Beyond this the oldest are dropped: the next roll call repeats what matters. */
const MAX_UNREAD = 10_000;

export interface FleetWatchOptions {
  /** The machines that answer now. */
  readonly list: () => Promise<readonly Machine[]>;
  /** Calls `listener` with what machines tell. Returns an unsubscribe function. */
  readonly onNews: (listener: (event: FleetEvent) => void) => () => void;
  readonly signal?: AbortSignal | undefined;
}

/** Reports machines that join, change, leave or are lost, beginning with those present. */
export async function* watchFleet(options: FleetWatchOptions): AsyncGenerator<FleetEvent> {
  const { list, onNews, signal } = options;
  const known = new Map<string, { machine: Machine; misses: number }>();
  const unread: FleetEvent[] = [];
  let wake = (): void => undefined;
  const tell = (event: FleetEvent): void => {
    if (event.type === 'left' || event.type === 'lost') known.delete(event.machine.name);
    else known.set(event.machine.name, { machine: event.machine, misses: 0 });
    unread.push(event);
    if (unread.length > MAX_UNREAD) unread.shift();
    wake();
  };
  const stop = onNews((event) => {
    // The roll call may have been faster than the news.
    const isKnown = known.get(event.machine.name)?.machine.epoch === event.machine.epoch;
    if (event.type === 'joined' ? !isKnown : isKnown) tell(event);
  });
  const over = new AbortController();
  const ended = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  ended.addEventListener('abort', () => wake(), { once: true });
  const polling = poll({ list, known, tell, ended });
  try {
    while (!ended.aborted) {
      const next = unread.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    over.abort();
    stop();
    await polling;
  }
}

async function poll(options: {
  list: FleetWatchOptions['list'];
  known: Map<string, { machine: Machine; misses: number }>;
  tell: (event: FleetEvent) => void;
  ended: AbortSignal;
}): Promise<void> {
  const { list, known, tell, ended } = options;
  while (!ended.aborted) {
    const machines = await list().catch(() => undefined);
    // While we have no connection ourselves, silence says nothing about machines.
    if (machines && !ended.aborted) compare(machines, known, tell);
    await pause(ROLL_CALL_INTERVAL_MS, undefined, { signal: ended }).catch(() => undefined);
  }
}

function compare(
  machines: readonly Machine[],
  known: Map<string, { machine: Machine; misses: number }>,
  tell: (event: FleetEvent) => void,
): void {
  const present = new Set(machines.map(({ name }) => name));
  for (const machine of machines) {
    const before = known.get(machine.name)?.machine;
    if (before?.epoch !== machine.epoch) tell({ type: 'joined', machine });
    else if (before.state !== machine.state) tell({ type: 'changed', machine });
    else known.set(machine.name, { machine, misses: 0 });
  }
  for (const [name, entry] of known) {
    if (present.has(name)) continue;
    entry.misses += 1;
    if (entry.misses >= MISSES_UNTIL_LOST) tell({ type: 'lost', machine: entry.machine });
  }
}
