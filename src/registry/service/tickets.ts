import type { PublicKey } from '../public-key.js';
import type { Registration } from './registrations.js';
import { Refusal } from './refusal.js';
import type { TokenBearer } from './registry-tokens.js';
import { digestOf, newSecret } from './secret.js';

/** How long a client may take to connect. */
const TICKET_MS = 30_000;
const MAX_PER_TOKEN = 64;

/** Permission to use a machine once. */
export interface Grant {
  readonly registration: Registration;
  readonly client: TokenBearer;
  readonly publicKey: PublicKey;
  /** The digest of the text that the client presents to the machine. */
  readonly authorizationDigest: string;
}

/** Permissions granted to clients and not used yet. */
export class Tickets {
  readonly #grants = new Map<string, { grant: Grant; timer: NodeJS.Timeout }>();

  /** Returns the secret that redeems the grant, and the authorization to present to the machine. */
  issue(asked: Omit<Grant, 'authorizationDigest'>): { secret: string; authorization: string } {
    const waiting = [...this.#grants.values()].filter(({ grant }) => grant.client === asked.client);
    if (waiting.length >= MAX_PER_TOKEN)
      throw new Refusal(
        429,
        'too_many_connections',
        'Too many clients with this token are about to connect.',
      );
    const [secret, authorization] = [newSecret(), newSecret()];
    const digest = digestOf(secret);
    const timer = setTimeout(() => this.#grants.delete(digest), TICKET_MS).unref();
    this.#grants.set(digest, { grant: { ...asked, authorizationDigest: digestOf(authorization) }, timer });
    return { secret, authorization };
  }

  /** Each grant can be redeemed once. */
  redeem(secret: string): Grant | undefined {
    const digest = digestOf(secret);
    const found = this.#grants.get(digest);
    clearTimeout(found?.timer);
    this.#grants.delete(digest);
    return found?.grant;
  }

  close(): void {
    for (const { timer } of this.#grants.values()) clearTimeout(timer);
    this.#grants.clear();
  }
}
