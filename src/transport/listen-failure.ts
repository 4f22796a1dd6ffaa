import { once } from 'node:events';
import type { Server } from 'node:net';
import { urlHost } from './listen-address.js';

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have this address; use one of its own, or 0.0.0.0 for all of them',
  EACCES: 'ports below 1024 are reserved for root; choose a higher one',
  EMFILE: 'this program has too many files open',
};

/** Why nobody can listen at an address, and what to do about it. */
export function whyNotListening({ code = '', message }: NodeJS.ErrnoException): string {
  const reason = REASONS[code];
  return reason === undefined ? message : `${reason} (${code})`;
}

/** Makes a server listen, or throws an error that says why it cannot. Its `code` stays that of the system, for programs. */
export async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  const listening = once(server, 'listening');
  server.listen(port, host);
  try {
    await listening;
  } catch (cause) {
    // A server emits nothing but errors of the system.
    const error = cause as NodeJS.ErrnoException;
    error.message = `Cannot listen on ${urlHost(host)}:${port}: ${whyNotListening(error)}.`;
    throw error;
  }
}
