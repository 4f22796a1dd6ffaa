import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Names of this machine that no page can rebind. */
const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Why a request is not served. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

/** Lets in who knows the token, and no browser: pages send an Origin, and rebound names are not ours. */
export class HttpGuard {
  readonly #tokenDigest: Buffer;

  constructor(token: string) {
    this.#tokenDigest = digest(token);
  }

  refusal({ headers }: IncomingMessage): Refusal | null {
    const host = headers.host?.replace(/:\d+$/, '').toLowerCase() ?? '';
    if (!LOOPBACK_HOSTS.includes(host)) return { status: 403, reason: 'unknown host' };
    if (headers.origin !== undefined) return { status: 403, reason: 'browsers are not served' };
    const token = /^bearer\s+(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1];
    // Digests have one length, so the comparison takes the same time whatever was sent.
    const known = token !== undefined && timingSafeEqual(digest(token), this.#tokenDigest);
    return known ? null : { status: 401, reason: 'missing or wrong bearer token' };
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
