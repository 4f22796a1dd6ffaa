import { readFileSync } from 'node:fs';

/** What Linux has unless told otherwise. */
const USUAL_QUEUE_LENGTH = 16_384;

const listeners = new Set<() => void>();
let queueLength: number | undefined;
let seenThisTurn = 0;

/** Calls `listener` whenever the system may have dropped events because nobody took them in time. */
export function onLostEvents(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * To be called with every event. The system says when its queue overflowed, Node does not pass it on; but a queue that did
 * was full, and all of it arrives within one turn of the event loop. As many events in one turn as the queue holds mean
 * that more may have come.
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
