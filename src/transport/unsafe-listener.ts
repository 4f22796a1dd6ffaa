import { ExecError } from '../protocol/errors.js';
import { isLoopback, urlHost } from './listen-address.js';
import type { WebSocketListenerOptions } from './listener-options.js';

/** Throws if TLS was requested without a certificate, or if anyone who reaches the address could run programs. */
export function refuseUnsafe({ address, auth, tls }: WebSocketListenerOptions): void {
  if (address.kind !== 'tcp') return;
  if (address.secure && !tls) {
    throw new ExecError(
      'invalidConfiguration',
      `Cannot serve wss://${urlHost(address.host)}:${address.port} without a certificate. Add --tls-cert and --tls-key.`,
    );
  }
  if (!isLoopback(address.host) && !auth) {
    throw new ExecError(
      'invalidConfiguration',
      `Refusing to serve ${urlHost(address.host)} without authentication: anyone who reaches it could run ` +
        'programs here. Add authentication (--token-file), or listen on 127.0.0.1.',
    );
  }
}
