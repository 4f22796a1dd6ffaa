import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Another service on the port of a listener, for paths of its own. Browsers and unknown host names are refused beforehand; the
 * service identifies its clients itself.
 */
export interface SideService {
  serves(path: string): boolean;
  /** Answers a plain request. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  /** Answers a request to become a WebSocket. `admit` gives a client that is known a place of its own. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, admit: () => boolean): void;
}
