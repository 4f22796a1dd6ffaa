/** Pongs in flight at a time. Only a client that does not read them asks for more. */
const MAX_UNSENT_PONGS = 16;

/** The parts of a WebSocket needed to answer pings. */
export interface PingedSocket {
  on(event: 'ping', listener: (data: Buffer) => void): unknown;
  pong(data: Buffer, mask: undefined, sent: () => void): void;
}

/**
 * Answers pings instead of the `ws` package, which answers every one: a client that pings without reading would make us
 * queue all the pongs. Pings above the limit go unanswered; the protocol does not require an answer to each.
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
