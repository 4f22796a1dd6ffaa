import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Authority, canonicalHost, formatAuthority } from './host-name.js';
import { type NetworkRules, RuleBook } from './rules.js';

/** How a program asks for a host. */
export type NetworkProtocol = 'http' | 'https_connect' | 'socks5_tcp';

/** One attempt to reach a host. */
export interface NetworkRequest extends Authority {
  readonly protocol: NetworkProtocol;
  /** Of the HTTP request, where it can be seen. */
  readonly method?: string;
  /** Address and port of the program, inside its network. */
  readonly client?: string;
}

/** Why a host is out of reach. A decider may give reasons of its own. */
export type DenialReason = 'denied' | 'not_allowed' | 'not_allowed_local' | (string & {});

/** What came of an attempt. */
export type Admission =
  | { readonly allowed: true; readonly addresses: readonly LookupAddress[] }
  | { readonly allowed: false; readonly reason: DenialReason; readonly decision: 'deny' | 'ask' }
  /** Allowed, but it leads nowhere. */
  | { readonly allowed: true; readonly addresses: null };

/** A verdict about a host that the rules do not know. */
export type Decision =
  | { readonly type: 'allow' }
  | { readonly type: 'deny' | 'ask'; readonly reason: DenialReason };

/** What everybody who keeps a record hears of. */
export interface Decided {
  readonly request: NetworkRequest;
  readonly decision: 'allow' | 'deny' | 'ask';
  readonly reason: 'allow' | DenialReason;
  /** Who decided: the rules, or whoever was asked. */
  readonly source: 'rules' | 'decider';
}

interface Refusal {
  readonly reason: DenialReason;
  readonly decision?: 'deny' | 'ask';
  readonly source?: Decided['source'];
}

/** What a gate needs besides its rules. */
export interface GateOptions {
  /** Asked about hosts that the rules do not know. Without it they are out of reach. */
  readonly decide?: ((request: NetworkRequest) => Promise<Decision>) | undefined;
  readonly onDecided?: ((decided: Decided) => void) | undefined;
  /** Our own doors: nobody inside gets to them, whatever the rules say. */
  readonly isOwnDoor?: ((address: string, port: number) => boolean) | undefined;
  /** For tests: how names become addresses. */
  readonly resolve?: ((host: string) => Promise<readonly LookupAddress[]>) | undefined;
}

/** A name that takes longer is treated as one that cannot be resolved. */
const RESOLVE_LIMIT_MS = 10_000;

/** Decides about every attempt to leave a sandbox, and finds the addresses it may lead to. */
export class Gate {
  readonly #rules: RuleBook;
  readonly #options: GateOptions;

  constructor(rules: NetworkRules, options: GateOptions = {}) {
    this.#rules = new RuleBook(rules);
    this.#options = options;
  }

  /** See `RuleBook`. */
  get namesLoopback(): boolean {
    return this.#rules.namesLoopback;
  }

  /**
   * The addresses are to be used as they are. To resolve the name once more would give its owner a second chance to
   * answer, with an address nobody has looked at.
   */
  async admit(request: NetworkRequest): Promise<Admission> {
    const verdict = this.#rules.judge(request);
    if (verdict === 'denied') return this.#refuse(request, { reason: 'denied' });
    if (verdict === 'private') return this.#refuse(request, { reason: 'not_allowed_local' });
    const source = verdict === 'unknown' ? 'decider' : 'rules';
    if (verdict === 'unknown') {
      if (!this.#options.decide) return this.#refuse(request, { reason: 'not_allowed' });
      const decision = await this.#ask(request);
      if (decision === null) return this.#refuse(request, { reason: 'not_allowed', source });
      if (decision.type !== 'allow')
        return this.#refuse(request, { reason: decision.reason, decision: decision.type, source });
    }
    const found = await this.#addressesOf(request.host);
    if (found?.some(({ address }) => !this.#mayLeadTo(request, address)))
      return this.#refuse(request, { reason: 'not_allowed_local', source });
    this.#options.onDecided?.({ request, decision: 'allow', reason: 'allow', source });
    return { allowed: true, addresses: found };
  }

  /**
   * Whether a connection to an admitted host may ask for this name in its TLS handshake; null: for one that cannot be read.
   * It is the host itself. Behind an address it is any that the rules do not deny.
   */
  admitsName(request: NetworkRequest, name: string | null): boolean {
    const host = name === null ? null : canonicalHost(name);
    if (host === request.host) return true;
    const isDenied = host === null || this.#rules.judge({ host, port: request.port }) === 'denied';
    if (isIP(request.host) !== 0 && !isDenied) return true;
    this.#refuse({ ...request, host: host ?? request.host }, { reason: 'other_name' });
    return false;
  }

  /** Null: nobody has decided. */
  async #ask(request: NetworkRequest): Promise<Decision | null> {
    try {
      return (await this.#options.decide?.(request)) ?? null;
    } catch {
      return null;
    }
  }

  #mayLeadTo(request: NetworkRequest, address: string): boolean {
    if (this.#options.isOwnDoor?.(address, request.port)) return false;
    return this.#rules.admitsAddress(request, address);
  }

  /** Null if there is none. */
  async #addressesOf(host: string): Promise<readonly LookupAddress[] | null> {
    const family = isIP(host);
    if (family !== 0) return [{ address: host, family }];
    const { resolve = resolveName } = this.#options;
    const late = new Promise<null>((settle) => void setTimeout(settle, RESOLVE_LIMIT_MS, null).unref());
    const found = await Promise.race([resolve(host).catch(() => null), late]);
    return found === null || found.length === 0 ? null : found;
  }

  #refuse(request: NetworkRequest, { reason, decision = 'deny', source = 'rules' }: Refusal): Admission {
    this.#options.onDecided?.({ request, decision, reason, source });
    return { allowed: false, reason, decision };
  }
}

async function resolveName(host: string): Promise<readonly LookupAddress[]> {
  return await lookup(host, { all: true });
}

/** One sentence for whoever finds the way barred. */
export function explainDenial(request: Authority, reason: DenialReason): string {
  const host = formatAuthority(request);
  switch (reason) {
    case 'denied':
      return `The network policy denies ${host}.`;
    case 'not_allowed':
      return `The network policy does not allow ${host}.`;
    case 'not_allowed_local':
      return `${host} resolves to a private or local address, which the network policy does not name.`;
    case 'other_name':
      return `A connection to another host asked for ${host} in its TLS handshake.`;
    case 'declined':
      return `Access to ${host} was asked for and declined.`;
    case 'unanswered':
      return `The network policy has no rule for ${host}, and nobody answered the question about it.`;
    default:
      return `The network policy does not allow ${host}: ${reason}`;
  }
}
