import type { ProcessEvent } from './process.js';
import { type LogHold, type ProcessLog, positionAfter } from './process-log.js';

/**
 * Iterates a log from a position to `closed`. An event counts as consumed when the next one is asked for;
 * until then the log keeps it, so a reader that stops in the middle has lost nothing. Throws what the log
 * failed with once everything before the failure is read.
 */
export async function* followLog(options: {
  log: ProcessLog;
  hold: LogHold;
  afterSeq: number;
  consumed?: (seq: number) => void;
}): AsyncGenerator<ProcessEvent, void, undefined> {
  const { log, hold, consumed } = options;
  let position = options.afterSeq;
  try {
    for (;;) {
      const event = log.next(position) ?? (await nextEvent(log, position));
      yield event;
      position = positionAfter(event);
      hold.moveTo(position);
      consumed?.(position);
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
