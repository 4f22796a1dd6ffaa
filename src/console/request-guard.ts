import type { IncomingMessage } from 'node:http';
import { isAllowedHost } from '../transport/browser-guard.js';
import type { ListenAddress } from '../transport/listen-address.js';

/** Tells requests of our own page from those of others. */
export class RequestGuard {
  readonly #address: ListenAddress;
  readonly #allowedHosts: readonly string[];
  readonly #scheme: 'http' | 'https';

  constructor(options: {
    address: ListenAddress;
    allowedHosts: readonly string[];
    isEncrypted: boolean;
  }) {
    this.#address = options.address;
    this.#allowedHosts = options.allowedHosts;
    this.#scheme = options.isEncrypted ? 'https' : 'http';
  }

  /** Whether the request uses a name of this machine. A page that rebinds its own name sends that one. */
  knowsHost({ headers }: IncomingMessage): boolean {
    return isAllowedHost(headers.host, this.#address, this.#allowedHosts);
  }

  /** Whether the request was made by a page of this very origin. Without `Origin`, that cannot be known. */
  isSameOrigin({ headers }: IncomingMessage): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin') return false;
    return headers.origin?.toLowerCase() === `${this.#scheme}://${headers.host?.toLowerCase()}`;
  }

  /** Whether another site made the request, as far as the browser says. Following a link is no harm. */
  isCrossSite({ headers }: IncomingMessage): boolean {
    const site = headers['sec-fetch-site'];
    const isForeign = site === 'cross-site' || site === 'same-site';
    return isForeign && headers['sec-fetch-mode'] !== 'navigate';
  }
}
