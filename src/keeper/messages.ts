/**
 * What a keeper and its server tell each other. Descriptors travel beside a message, in the order of its names. A message
 * that was sent arrives, even if its sender is killed right after.
 */
export type ToKeeper =
  /** Keep copies of these descriptors. */
  | { readonly op: 'hold'; readonly key: string; readonly names: readonly string[] }
  /** Close the copy with this name, or all of this key. */
  | { readonly op: 'letGo'; readonly key: string; readonly name?: string | undefined }
  /** What is kept under this key is of no use to the next server. */
  | { readonly op: 'spoil'; readonly key: string }
  /** The end of this process is on record. */
  | { readonly op: 'recorded'; readonly pid: number }
  /** Send some of what is kept. */
  | { readonly op: 'next' }
  /** The server can be used. */
  | { readonly op: 'ready' }
  /** Start a server with this command line that is to take the place of this one. */
  | { readonly op: 'succeed'; readonly argv: readonly string[]; readonly predecessor: Predecessor }
  /** Of a successor: it could take over now. */
  | { readonly op: 'prepared' }
  /** Of a successor: it cannot, and exits. */
  | { readonly op: 'unfit'; readonly reason: string }
  /** The successor is not wanted after all. */
  | { readonly op: 'dismiss' }
  /** The server exits in favour of its successor. */
  | { readonly op: 'leave' };

/** What a successor must have in common with the server whose place it takes. */
export interface Predecessor {
  /** Where its state is. */
  readonly directory: string;
  /** The addresses it listens on, in the order of its command line. */
  readonly listen: readonly string[];
}

export type ToServer =
  | {
      readonly op: 'held';
      readonly key: string;
      readonly names: readonly string[];
      readonly spoiled: boolean;
    }
  /** A process that an earlier server started has ended. */
  | { readonly op: 'ended'; readonly pid: number; readonly status: number }
  /** A successor was started. */
  | { readonly op: 'sibling'; readonly pid: number }
  /** The successor is ready, as the server with this number. */
  | { readonly op: 'prepared'; readonly generation: number }
  /** There will be no successor. */
  | { readonly op: 'unfit'; readonly reason: string }
  /** There is more; ask for it. */
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
