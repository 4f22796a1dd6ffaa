import { type Listener, Listeners } from './listeners.js';
import { timeSpent } from './time-spent.js';

/** The interval between scans while somebody watches. A new port is reported within 100 ms. */
const LOOK_EVERY_MS = 40;
/** Scanning may take this share of a processor, however much there is to scan… */
const MAX_SHARE = 1 / 4;
/** …but never pauses longer than this. */
const MAX_PAUSE_MS = 500;

type Subscriber = (listeners: readonly Listener[]) => void;

const listeners = new Listeners();
const subscribers = new Set<Subscriber>();
let isLooking = false;

/** Everything that listens now. */
export function listListeners(): Promise<Listener[]> {
  return listeners.lookAgain();
}

/** Calls `subscriber` with all listeners after every scan. Returns an unsubscribe function. */
export function watchListeners(subscriber: Subscriber): () => void {
  subscribers.add(subscriber);
  if (!isLooking) void keepLooking();
  return () => void subscribers.delete(subscriber);
}

/** The kernel has no event for a socket that begins to listen, so we scan while anybody watches. */
async function keepLooking(): Promise<void> {
  isLooking = true;
  while (subscribers.size > 0) {
    const spent = timeSpent();
    const found = await listeners.look();
    for (const subscriber of [...subscribers]) subscriber(found);
    await pause(spent());
  }
  isLooking = false;
}

function pause(spentMs: number): Promise<void> {
  const ms = Math.min(Math.max(LOOK_EVERY_MS, spentMs / MAX_SHARE), MAX_PAUSE_MS);
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
