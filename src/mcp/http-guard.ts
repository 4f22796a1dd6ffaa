import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Host names for this machine that DNS rebinding cannot use. */
const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Why a request was rejected. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

/**
 * Admits clients that know the token, but no pages of others: those send an Origin that is not ours, and a rebound name is
 * not in the list. Our own origin serves no pages.
 */
export class HttpGuard {
  readonly #tokenDigest: Buffer;

  constructor(token: string) {
    this.#tokenDigest = digest(token);
  }

  refusal({ headers }: IncomingMessage): Refusal | null {
    const host = headers.host?.replace(/:\d+$/, '').toLowerCase() ?? '';
    if (!LOOPBACK_HOSTS.includes(host)) return { status: 403, reason: 'unknown host' };
    const isOurs = headers.origin?.toLowerCase() === `http://${headers.host?.toLowerCase()}`;
    if (headers.origin !== undefined && !isOurs) return { status: 403, reason: 'browsers are not served' };
    const token = /^bearer\s+(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1];
    // Digests have the same length, so the comparison takes the same time for any token.
    const known = token !== undefined && timingSafeEqual(digest(token), this.#tokenDigest);
    return known ? null : { status: 401, reason: 'missing or wrong bearer token' };
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
