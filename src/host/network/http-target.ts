import type { IncomingMessage } from 'node:http';
import { type Authority, parseAuthority } from './host-name.js';

/** Where a request to the proxy wants to go. */
export interface HttpTarget extends Authority {
  /** Path and query. */
  readonly path: string;
}

const HTTP_PORT = 80;

/**
 * The target of `GET http://host/path`, or of a plain `GET /path` by its `Host` header. A string says why there is none.
 * Both must agree: the host we judge is to be the one that the server behind it goes by.
 */
export function targetOf({ url = '', headers }: IncomingMessage): HttpTarget | string {
  const named = headers.host === undefined ? undefined : parseAuthority(headers.host, HTTP_PORT);
  if (named === null) return 'The Host header names no host.';
  if (url.startsWith('/')) return named === undefined ? 'There is no Host header.' : { ...named, path: url };
  const [, authority = '', path = ''] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  const asked = parseAuthority(authority, HTTP_PORT);
  if (asked === null) return 'Only http:// is fetched for you. Use CONNECT for everything else.';
  if (named !== undefined && (named.host !== asked.host || named.port !== asked.port))
    return 'The Host header does not match the request target.';
  return { ...asked, path: path.startsWith('/') ? path : `/${path}` };
}
