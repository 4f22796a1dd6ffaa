import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import type { PassedChannel } from '../rpc/index.js';
import { descriptorOf, stopReading } from './descriptor-of.js';
import { unreadBytes } from './unread-bytes.js';
import { UnsentBytes } from './unsent-bytes.js';

/**
 * What has been sent over a connection and not left. Undefined if it cannot be passed on at all: what is encrypted or
 * deflated depends on what was sent before.
 */
export function unsentOf(socket: WebSocket, stream: Duplex): UnsentBytes | undefined {
  const isPlain = stream instanceof Socket && !(stream instanceof TLSSocket) && socket.extensions === '';
  return isPlain ? new UnsentBytes(stream) : undefined;
}

/**
 * What another process needs to continue with a connection; null if it could not. Nothing more is read here, and the event loop
 * must not continue: it would send what is passed on as unsent.
 */
export function passSocket(
  socket: WebSocket,
  stream: Duplex,
  { messages, unsent }: { messages: readonly (string | Uint8Array)[]; unsent: UnsentBytes | undefined },
): PassedChannel | null {
  const rest = unsent?.read() ?? null;
  if (!(stream instanceof Socket) || rest === null || socket.readyState !== socket.OPEN) return null;
  stopReading(stream);
  const descriptor = descriptorOf(stream);
  const unread = descriptor === null ? null : unreadBytes(socket, stream, messages);
  return descriptor === null || unread === null ? null : { descriptor, unread, unsent: rest };
}
