import {
  BinaryMessage,
  type Channel,
  type CloseReason,
  frameText,
  type OutgoingMessage,
} from '../rpc/index.js';

const NO_BYTES = new Uint8Array(0);

/** Characters or bytes in transit before the sending side is paused: a few typical messages. */
const MAX_IN_FLIGHT = 1024 * 1024;

/** Which side ended a relay, and why. */
export interface RelayEnd {
  readonly side: 'left' | 'right';
  readonly reason: CloseReason;
}

/**
 * Moves messages between two channels without parsing them, at the pace of the slower side. A binary frame becomes text
 * if the other side carries only text, since the two ends cannot know what lies between them. When one side ends, the
 * other is closed after everything in transit. Resolves when both have ended.
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
  const move = (message: OutgoingMessage): void => {
    inFlight += message.length;
    if (!paused && inFlight > MAX_IN_FLIGHT) {
      paused = true;
      from.pause();
    }
    to.send(message, () => {
      inFlight -= message.length;
      if (!paused || inFlight > MAX_IN_FLIGHT / 2) return;
      paused = false;
      from.resume();
    });
  };
  from.open({
    message: move,
    binary: (data) => {
      try {
        move(to.carriesBytes ? new BinaryMessage(data, NO_BYTES) : frameText(data));
      } catch {
        from.reject('a binary frame cannot be read');
      }
    },
    closed,
  });
}
