import type { ProcessEvent } from './process-event.js';
import type { LogHold } from './log-holds.js';
import type { ProcessLog } from './process-log.js';
import { positionAfter } from './read-log.js';

interface FollowOptions {
  readonly log: ProcessLog;
  readonly hold: LogHold;
  readonly afterSeq: number;
}

/**
 * Iterates over a log from a position to `closed`. An event counts as consumed when the next one is requested; until
 * then the log keeps it, so a reader that stops midway loses nothing. Throws the log's failure once everything before
 * it is read.
 */
export function followLog(options: FollowOptions): AsyncIterableIterator<ProcessEvent> {
  const events = follow(options);
  return {
    next: () => events.next(),
    return: async () => {
      // A reader that never started, or is waiting for an event, must not block the process.
      options.hold.release();
      void events.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* follow({ log, hold, afterSeq }: FollowOptions): AsyncGenerator<ProcessEvent, void> {
  let position = afterSeq;
  try {
    for (;;) {
      const event = log.next(position) ?? (await nextEvent(log, position));
      yield event;
      position = positionAfter(event);
      hold.moveTo(position);
      if (event.type === 'closed') return;
    }
  } finally {
    hold.release();
  }
}

function nextEvent(log: ProcessLog, afterSeq: number): Promise<ProcessEvent> {
  return new Promise((resolve, reject) => {
    const look = (): boolean => {
      const event = log.next(afterSeq);
      if (event) resolve(event);
      else if (log.failure) reject(log.failure);
      else return false;
      return true;
    };
    if (look()) return;
    const stop = log.subscribe(() => {
      if (look()) stop();
    });
  });
}
