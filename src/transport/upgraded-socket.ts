import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

/** How the package gives a WebSocket its connection. */
interface OwnSocket {
  setSocket(stream: Socket, head: Buffer, options: { maxPayload: number }): void;
}

/** The server's side of a WebSocket whose handshake is over. `unread`: what was read from it and not acted on. */
export function upgradedSocket(
  stream: Socket,
  { unread, options }: { unread: Uint8Array; options: { maxPayload: number } },
): WebSocket {
  // The typings know of clients only. This is how the server of the package makes its sockets, too.
  const socket = Reflect.construct(WebSocket, [null, undefined, options]) as WebSocket & OwnSocket;
  socket.setSocket(stream, Buffer.from(unread), options);
  return socket;
}
