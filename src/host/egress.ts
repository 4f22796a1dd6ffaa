import type { AskAboutHost, Decided, Decision, NetworkRequest, NetworkRules } from './network/index.js';
import type { NetworkDenials } from './network-denials.js';
import type { NetworkToJoin } from './sandbox/index.js';
import type { NetworkDenial } from '../protocol/index.js';

/** Which hosts one program may reach, and who is asked about the others. */
export interface NetworkUse {
  readonly rules: NetworkRules;
  /** Asked about hosts that the rules do not know. The signal fires when the program has ended. */
  readonly decide?: ((request: NetworkRequest, signal: AbortSignal) => Promise<Decision>) | undefined;
  /** The same, remembering answers; null if there is no one to ask. */
  readonly ask?: AskAboutHost | null | undefined;
  readonly onDecided?: ((decided: Decided) => void) | undefined;
  /** Whether the proxy speaks SOCKS. Default true. */
  readonly socks?: boolean | undefined;
  /** Whether local addresses are those of the sandbox, unless the rules name them. Default true. */
  readonly localIsInside?: boolean | undefined;
}

/** A proxy that exists already: its address is in the variables of the program. */
export interface ExistingProxyUse {
  readonly existingProxy: true;
}

/** The program that needs to reach the network. */
export interface EgressOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Hears of each host that it is kept from, once, and of so many at most. */
  readonly onDenied?: ((denial: NetworkDenial) => void) | undefined;
}

/** How a program reaches the network from its sandbox. */
export interface Egress {
  readonly network: NetworkToJoin;
  /** They lead its programs to the proxy. */
  readonly variables: Readonly<Record<string, string>>;
  readonly denials: NetworkDenials;
  /** Where existing proxies listen that it leads to. */
  readonly bridges: readonly number[];
  /** What another server needs to continue with it. They stay ours. */
  readonly descriptors: Readonly<Record<string, number>>;
  /** Ends every connection. Idempotent. */
  close(): void;
}

/** Existing proxies, by the ports they listen on. */
export interface BridgeUse {
  readonly bridges: readonly number[];
}
