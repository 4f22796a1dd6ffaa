import type { ResourceUsage } from '../host/spawn/parent.js';

/**
 * The messages between a keeper and its server. Descriptors travel with a message, in the order of its names. A sent message
 * arrives even if its sender is killed right afterwards.
 */
export type ToKeeper =
  /** From here on, read messages when this socket says so. Only for a keeper that takes it; see `KeeperFacts`. */
  | { readonly op: 'bell' }
  /** Keep copies of these descriptors. */
  | { readonly op: 'hold'; readonly key: string; readonly names: readonly string[] }
  /** Close the copy with this name, or all of this key. */
  | { readonly op: 'letGo'; readonly key: string; readonly name?: string | undefined }
  /** The descriptors under this key are useless to the next server. */
  | { readonly op: 'spoil'; readonly key: string }
  /** The end of this process has been recorded. */
  | { readonly op: 'recorded'; readonly pid: number }
  /** Send the next batch of descriptors. */
  | { readonly op: 'next' }
  /** The server can be used. */
  | { readonly op: 'ready' }
  /** Start a server with this command line to replace this one. */
  | { readonly op: 'succeed'; readonly argv: readonly string[]; readonly predecessor: Predecessor }
  /** From a successor: it is ready to take over. */
  | { readonly op: 'prepared' }
  /** From a successor: it cannot take over, and exits. */
  | { readonly op: 'unfit'; readonly reason: string }
  /** The successor is no longer wanted. */
  | { readonly op: 'dismiss' }
  /** The server exits in favour of its successor. */
  | { readonly op: 'leave' };

/** What a successor must have in common with the server it replaces. */
export interface Predecessor {
  /** Its state directory. */
  readonly directory: string;
  /** The addresses it listens on, in the order of its command line. */
  readonly listen: readonly string[];
}

/** How a process ended, and what it used, which older keepers do not report. */
export interface Ended {
  readonly status: number;
  readonly usage?: ResourceUsage;
}

export type ToServer =
  | {
      readonly op: 'held';
      readonly key: string;
      readonly names: readonly string[];
      readonly spoiled: boolean;
    }
  /** A process that an earlier server started has ended. */
  | ({ readonly op: 'ended'; readonly pid: number } & Ended)
  /** A successor has been started. */
  | { readonly op: 'sibling'; readonly pid: number }
  /** The successor is ready, as the server with this number. */
  | { readonly op: 'prepared'; readonly generation: number }
  /** There will be no successor. */
  | { readonly op: 'unfit'; readonly reason: string }
  /** There is more to ask for. */
  | { readonly op: 'more' }
  /** This was everything. */
  | { readonly op: 'all' };

/** The version of these messages. A server may be newer than its keeper, which stays when servers are replaced. */
export const KEEPER_VERSION = 1;

/** The key of the sockets that servers listen on, by the number of their address. */
export const LISTENERS = 'listen';

/** The descriptor on which a server finds its keeper, and the one of the ledger. */
export const KEEPER_FD = 3;
export const LEDGER_FD = 4;
/** Tells a server that it has a keeper, and what it must know. */
export const KEEPER_VARIABLE = 'EXECWIRE_KEEPER';
