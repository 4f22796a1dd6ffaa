import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission } from '../../transport/admission.js';
import { type CookiePlace, readCookie, setCookie } from '../cookie.js';
import { OneTimeKey } from '../one-time-key.js';
import { digestOf, newSecret } from '../secret.js';

/** Programs have no business below this path. */
const ENTRANCE = '/.execwire/open/';
/** Valid until the user is signed out, which also closes the port. */
const COOKIE_MS = 12 * 60 * 60_000;

/** Where the browser finds an opened port. */
export interface GatePlace extends CookiePlace {
  /** The whole origin: any other `Host` is refused. */
  readonly origin: string;
  /** Nothing else was ever served under this host, so the browser has nothing left of it. */
  readonly isFresh: boolean;
}

/** Lets the one browser in that was sent here, and nobody else: each port has a key and a cookie of its own. */
export class GateEntrance {
  readonly #place: GatePlace;
  readonly #admission: Admission | undefined;
  readonly #key = new OneTimeKey();
  readonly #secret = newSecret();
  #wasEntered = false;

  constructor(place: GatePlace, admission: Admission | undefined) {
    this.#place = place;
    this.#admission = admission;
  }

  /** An address that opens the port once. */
  newAddress(): string {
    return `${this.#place.origin}${ENTRANCE}${this.#key.renew()}`;
  }

  /** Whether the request may reach the program. If not, it has been answered. */
  admits(request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.#isAddressedHere(request)) return refuse(response, 403, 'This request names another host.');
    if (request.url?.startsWith(ENTRANCE)) return this.#enter(request.url.slice(ENTRANCE.length), response);
    if (!this.#hasCookie(request)) return refuse(response, 401, 'Open this port from the console.');
    if (!this.#isOfThisOrigin(request))
      return refuse(response, 403, 'Other pages may not use this port. Open it from the console.');
    // It would stay in the browser and answer for whatever is served at this address next, even a console.
    if (!this.#place.isFresh && request.headers['service-worker'] !== undefined)
      return refuse(response, 403, 'Pages of this port may not install a service worker.');
    return true;
  }

  /** The same for a WebSocket, which must say where it comes from. */
  admitsUpgrade(request: IncomingMessage): boolean {
    return (
      this.#isAddressedHere(request) &&
      this.#hasCookie(request) &&
      request.headers.origin === this.#place.origin
    );
  }

  close(): void {
    this.#key.forget();
  }

  #isAddressedHere(request: IncomingMessage): boolean {
    const isAdmitted = this.#admission?.(request.socket, { authenticated: false }) ?? true;
    return isAdmitted && request.headers.host?.toLowerCase() === new URL(this.#place.origin).host;
  }

  #hasCookie({ headers }: IncomingMessage): boolean {
    const sent = readCookie(this.#place, headers.cookie);
    return sent !== undefined && digestOf(sent) === digestOf(this.#secret);
  }

  /** Pages of other ports have the same cookies as far as browsers are concerned. */
  #isOfThisOrigin({ headers }: IncomingMessage): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    return headers.origin === undefined || headers.origin === this.#place.origin;
  }

  #enter(key: string, response: ServerResponse): false {
    if (!this.#key.use(key))
      return refuse(response, 403, 'This address has already been used. Open the port again.');
    response.setHeader('set-cookie', setCookie(this.#place, this.#secret, COOKIE_MS));
    // What another program left in the browser under the same name must not meet this one.
    if (!this.#place.isFresh && !this.#wasEntered)
      response.setHeader('clear-site-data', '"cache", "storage"');
    this.#wasEntered = true;
    // A redirect would count as made by the console, and the cookie would stay behind.
    const page = '<!doctype html><title>Opening…</title><meta http-equiv="refresh" content="0; url=/">';
    response.writeHead(200, { ...OWN_HEADERS, 'content-type': 'text/html; charset=utf-8' }).end(page);
    return false;
  }
}

/** Of what we say ourselves: nothing in it can act, and nobody keeps it. */
const OWN_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Answers in one sentence. */
export function refuse(response: ServerResponse, status: number, sentence: string): false {
  if (response.headersSent) response.destroy();
  else
    response
      .writeHead(status, { ...OWN_HEADERS, 'content-type': 'text/plain; charset=utf-8' })
      .end(`${sentence}\n`);
  return false;
}
