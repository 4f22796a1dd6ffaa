import { isIP } from 'node:net';
import type { Authority } from './host-name.js';
import { HostPatterns } from './host-patterns.js';
import { embeddedAddress, isPublicAddress } from './public-address.js';

/** Which hosts may be reached. Plain data. */
export interface NetworkRules {
  /** Patterns, as `HostPatterns` reads them. */
  readonly allow: readonly string[];
  /** Beats `allow`. */
  readonly deny: readonly string[];
  /** Somebody is asked about these, even if they are allowed. */
  readonly review?: readonly string[];
  /** Private addresses need not be named one by one. */
  readonly allowPrivate?: boolean;
}

/** What the rules alone say about a host. `unknown`: nobody has decided. */
export type RuleVerdict = 'allowed' | 'denied' | 'private' | 'unknown';

/** Rules ready for use. */
export class RuleBook {
  readonly #allow: HostPatterns;
  readonly #deny: HostPatterns;
  readonly #review: HostPatterns;
  readonly #allowPrivate: boolean;

  /** Throws `invalidParams` if a pattern cannot be used. */
  constructor({ allow, deny, review = [], allowPrivate = false }: NetworkRules) {
    this.#allow = new HostPatterns(allow);
    this.#deny = new HostPatterns(deny);
    this.#review = new HostPatterns(review);
    this.#allowPrivate = allowPrivate;
  }

  /** The loopback of this machine is meant, not that of the sandbox. */
  get namesLoopback(): boolean {
    return this.#allow.literals.some((host) => isLoopbackName(host) || /^127\.|^::1$/.test(host));
  }

  judge(target: Authority): RuleVerdict {
    if (this.#denies(target)) return 'denied';
    if (isPrivateName(target.host) && !this.#mayBePrivate(target)) return 'private';
    if (this.#review.matches(target)) return 'unknown';
    return this.#allow.matches(target) ? 'allowed' : 'unknown';
  }

  /** True if a name may lead to this address: whoever owns a name decides what it leads to. */
  admitsAddress(target: Authority, address: string): boolean {
    const resolved = { host: address, port: target.port };
    if (this.#denies(resolved)) return false;
    if (isPublicAddress(address) || this.#mayBePrivate(resolved)) return true;
    return isLoopbackName(target.host) && this.#mayBePrivate(target);
  }

  /** An address of version 4 is denied in all its disguises. */
  #denies(target: Authority): boolean {
    const host = embeddedAddress(target.host);
    return this.#deny.matches(target) || (host !== null && this.#deny.matches({ ...target, host }));
  }

  #mayBePrivate(target: Authority): boolean {
    return this.#allowPrivate || this.#allow.names(target);
  }
}

function isPrivateName(host: string): boolean {
  return isIP(host) === 0 ? isLoopbackName(host) : !isPublicAddress(host);
}

function isLoopbackName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost');
}
