import { isIP } from 'node:net';
import { isLoopback, isWildcard, type ListenAddress } from './listen-address.js';

/**
 * Tells whether a `Host` header may be served. A page that rebinds its own name to our address sends that
 * name: only names we know, and addresses, which cannot be rebound, get through.
 */
export function isAllowedHost(
  header: string | undefined,
  address: ListenAddress,
  allowedNames: readonly string[],
): boolean {
  // No page reaches a unix socket.
  if (address.kind !== 'tcp') return true;
  const name = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(header?.trim() ?? '');
  const host = (name?.[1] ?? name?.[2])?.toLowerCase();
  if (host === undefined) return false;
  if (allowedNames.some((allowed) => allowed.toLowerCase() === host)) return true;
  if (host === address.host.toLowerCase()) return true;
  if (isWildcard(address.host)) return isIP(host) !== 0 || host === 'localhost';
  return host === 'localhost' && isLoopback(address.host);
}
