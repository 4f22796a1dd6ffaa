/** Pongs on their way at a time. More are only asked for by somebody who does not read them. */
const MAX_UNSENT_PONGS = 16;

/** What is needed of a WebSocket to answer its pings. */
export interface PingedSocket {
  on(event: 'ping', listener: (data: Buffer) => void): unknown;
  pong(data: Buffer, mask: undefined, sent: () => void): void;
}

/**
 * Answers pings in place of the `ws` package, which answers every one: whoever pings without reading would make us keep
 * all the pongs. A ping that finds too many of them is left out; the protocol does not ask for an answer to each.
 */
export function answerPings(socket: PingedSocket): void {
  let unsent = 0;
  socket.on('ping', (data) => {
    if (unsent >= MAX_UNSENT_PONGS) return;
    unsent += 1;
    socket.pong(data, undefined, () => {
      unsent -= 1;
    });
  });
}
