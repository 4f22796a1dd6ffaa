import type { Duplex } from 'node:stream';

/** How long a refused client may take to read the reason and close its end. */
const REFUSAL_GRACE_MS = 1_000;

/** What a status is called. */
export const STATUS_TEXT: Record<number, string> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};

/** Answers a request to become a WebSocket with an HTTP error, and ends the connection. */
export function refuse(socket: Duplex, status: number, body: string): void {
  const text = `HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  socket.end(text);
  // A client that keeps its end open would otherwise hold one of our connections and keep the server from closing.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), REFUSAL_GRACE_MS);
  socket.once('close', () => clearTimeout(timer));
}
