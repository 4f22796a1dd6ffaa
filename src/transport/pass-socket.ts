import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import type { PassedChannel } from '../rpc/index.js';
import { descriptorOf, stopReading } from './descriptor-of.js';
import { unreadBytes } from './unread-bytes.js';

/** What another process needs to continue with a connection; null if it could not. Nothing more is read here. */
export function passSocket(
  socket: WebSocket,
  stream: Duplex,
  messages: readonly (string | Uint8Array)[],
): PassedChannel | null {
  // What is encrypted or deflated depends on what was sent before.
  const isPlain = stream instanceof Socket && !(stream instanceof TLSSocket) && socket.extensions === '';
  if (!isPlain || socket.readyState !== socket.OPEN || stream.writableLength > 0) return null;
  stopReading(stream);
  const descriptor = descriptorOf(stream);
  const unread = descriptor === null ? null : unreadBytes(socket, stream, messages);
  return descriptor === null || unread === null ? null : { descriptor, unread };
}
