import { readFileSync } from 'node:fs';

/** The default on Linux. */
const USUAL_QUEUE_LENGTH = 16_384;

const listeners = new Set<() => void>();
let queueLength: number | undefined;
let seenThisTurn = 0;

/**
 * Calls `listener` whenever the system may have dropped events because nobody read them in time. Returns an unsubscribe
 * function.
 */
export function onLostEvents(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Call with every event. The system reports a queue overflow, but Node does not pass it on. An overflowing queue was
 * full, though, and all of it arrives within one turn of the event loop. So as many events in one turn as the queue
 * holds mean that more may have been lost.
 */
export function countEvent(): void {
  seenThisTurn += 1;
  if (seenThisTurn > 1) return;
  setImmediate(() => {
    queueLength ??= readQueueLength();
    const isLost = seenThisTurn >= queueLength;
    seenThisTurn = 0;
    if (isLost) for (const listener of [...listeners]) listener();
  });
}

function readQueueLength(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || USUAL_QUEUE_LENGTH;
  } catch {
    return USUAL_QUEUE_LENGTH;
  }
}
