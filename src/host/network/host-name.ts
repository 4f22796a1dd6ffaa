import type { Socket } from 'node:net';
import { domainToASCII } from 'node:url';

/** The longest name of the domain name system. */
const MAX_HOST_CHARS = 253;

/** What a URL would take for something other than the host, and what could split a message about it. */
const FOREIGN = /[\s/?#\\@%]|\p{Cc}/u;

/**
 * The one spelling of a host that rules are compared with: lower case, punycode, without a final dot, addresses in
 * their usual form, without brackets. `127.1` and `0x7f000001` become `127.0.0.1`. Null if it is no host.
 */
export function canonicalHost(text: string): string | null {
  const isAddress = text.startsWith('[') || text.split(':').length > 2;
  if (FOREIGN.test(text) || (!isAddress && text.includes(':'))) return null;
  const ascii = domainToASCII(isAddress && !text.startsWith('[') ? `[${text}]` : text);
  const host = (ascii.startsWith('[') ? ascii.slice(1, -1) : ascii).replace(/\.$/, '');
  const isUsable = host.length <= MAX_HOST_CHARS && /^[a-z0-9_.:-]+$/.test(host) && !/^\.|\.\./.test(host);
  return isUsable ? host : null;
}

/** A host and the port behind it. */
export interface Authority {
  /** Canonical. */
  readonly host: string;
  readonly port: number;
}

/** Parses `host:port`, where an address of version 6 is in brackets. Null if it is neither. */
export function parseAuthority(text: string, defaultPort?: number): Authority | null {
  const [, bracketed, plain, digits] = /^(?:(\[[^\]]*\])|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = canonicalHost(bracketed ?? plain ?? '');
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === null || port === undefined || port < 1 || port > 65_535 ? null : { host, port };
}

/** The authority as people write it. */
export function formatAuthority({ host, port }: Authority): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The program at the other end of a connection, as a member of its requests. */
export function clientOf({ remoteAddress: host, remotePort: port }: Socket): { client?: string } {
  return host === undefined || port === undefined ? {} : { client: formatAuthority({ host, port }) };
}
