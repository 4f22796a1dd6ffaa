import type { Channel, CloseReason } from '../rpc/index.js';

/** Characters on their way through before the side they come from has to wait: a few of the usual messages. */
const MAX_IN_FLIGHT_CHARS = 1024 * 1024;

/** Which side ended a relay, and why. */
export interface RelayEnd {
  readonly side: 'left' | 'right';
  readonly reason: CloseReason;
}

/**
 * Moves messages between two channels without reading them, as fast as the slower side takes them. When one side
 * ends, the other is closed behind what is on its way to it. Resolves when both are over.
 */
export function relay(left: Channel, right: Channel): Promise<RelayEnd> {
  return new Promise((resolve) => {
    let first: RelayEnd | undefined;
    const ended = (end: RelayEnd, other: Channel): void => {
      if (first) return resolve(first);
      first = end;
      other.close(end.reason.message);
    };
    pump(left, right, (reason) => ended({ side: 'left', reason }, right));
    pump(right, left, (reason) => ended({ side: 'right', reason }, left));
  });
}

function pump(from: Channel, to: Channel, closed: (reason: CloseReason) => void): void {
  let inFlight = 0;
  let paused = false;
  from.open({
    message: (text) => {
      inFlight += text.length;
      if (!paused && inFlight > MAX_IN_FLIGHT_CHARS) {
        paused = true;
        from.pause();
      }
      to.send(text, () => {
        inFlight -= text.length;
        if (!paused || inFlight > MAX_IN_FLIGHT_CHARS / 2) return;
        paused = false;
        from.resume();
      });
    },
    closed,
  });
}
