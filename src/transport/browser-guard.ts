import { isIP } from 'node:net';
import { isLoopback, isWildcard, type ListenAddress } from './listen-address.js';

/**
 * Whether to serve a request with this `Host` header. A page that rebinds its own name to our address sends that name,
 * so only known names are allowed, and IP addresses, which cannot be rebound.
 */
export function isAllowedHost(
  header: string | undefined,
  address: ListenAddress,
  allowedNames: readonly string[],
): boolean {
  // Web pages cannot reach a unix socket.
  if (address.kind !== 'tcp') return true;
  const name = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(header?.trim() ?? '');
  const host = (name?.[1] ?? name?.[2])?.toLowerCase();
  if (host === undefined) return false;
  if (allowedNames.some((allowed) => allowed.toLowerCase() === host)) return true;
  if (host === address.host.toLowerCase()) return true;
  if (isWildcard(address.host)) return isIP(host) !== 0 || host === 'localhost';
  return host === 'localhost' && isLoopback(address.host);
}
