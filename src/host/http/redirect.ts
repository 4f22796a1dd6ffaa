import { ExecError } from '../../protocol/errors.js';
import type { OutgoingHeader, OutgoingRequest } from './http-request.js';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Redirects that keep method and body; others turn into a GET. */
const SAME_METHOD = new Set([307, 308]);

/** Describe a body that is no longer sent. */
const BODY_HEADERS = new Set(['content-type', 'content-length', 'content-encoding', 'transfer-encoding']);

/** Meant for one origin only. */
const PRIVATE_HEADERS = new Set(['authorization', 'cookie', 'cookie2', 'proxy-authorization', 'host']);

export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/** The request a redirect leads to. Credentials are never sent to another origin. */
export function nextHop(request: OutgoingRequest, status: number, location: string): OutgoingRequest {
  const url = targetOf(location, request.url);
  const keepsMethod = SAME_METHOD.has(status) || request.method === 'GET' || request.method === 'HEAD';
  const sameOrigin = url.origin === request.url.origin;
  const headers = request.headers.filter((header) => staysOn(header, { keepsMethod, sameOrigin }));
  const referer = refererOf(request.url, url);
  return {
    method: keepsMethod ? request.method : 'GET',
    url,
    headers: referer === null ? headers : [...headers, { name: 'referer', value: referer, secret: false }],
    body: keepsMethod ? request.body : null,
  };
}

function targetOf(location: string, base: URL): URL {
  let url: URL;
  try {
    url = new URL(location, base);
  } catch (error) {
    throw new ExecError('httpFailed', 'http/request failed: redirect to an invalid URL', { cause: error });
  }
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  const scheme = url.protocol.slice(0, -1);
  throw new ExecError(
    'httpFailed',
    `http/request failed: redirect target uses unsupported URL scheme: ${scheme}`,
  );
}

function staysOn(header: OutgoingHeader, hop: { keepsMethod: boolean; sameOrigin: boolean }): boolean {
  const name = header.name.toLowerCase();
  if (name === 'referer') return false;
  if (!hop.keepsMethod && BODY_HEADERS.has(name)) return false;
  return hop.sameOrigin || !(header.secret || PRIVATE_HEADERS.has(name));
}

/** Null if it would reveal a secure URL over an insecure connection. */
function refererOf(from: URL, to: URL): string | null {
  if (from.protocol === 'https:' && to.protocol === 'http:') return null;
  const shown = new URL(from);
  shown.username = '';
  shown.password = '';
  shown.hash = '';
  return shown.href;
}
