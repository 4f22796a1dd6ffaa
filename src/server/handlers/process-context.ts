import type { Spool } from '../../spool/index.js';
import type { DurableState } from '../durable/durable-state.js';
import type { ClientKeep } from '../kept-by.js';
import type { ServerObserver } from '../server-events.js';
import type { SessionRegistry } from '../session-registry.js';
import type { Share, Shares } from '../shares.js';
import type { Session } from '../session.js';

/** What the process methods of one connection work on. */
export interface ProcessContext {
  readonly session: () => Session;
  readonly sessions: Pick<SessionRegistry, 'all' | 'get'>;
  /** The kept processes of this client. */
  readonly keep: ClientKeep;
  /** Who the client is; undefined if it cannot have processes that outlive its session. */
  readonly principal: string | undefined;
  /** What others may view. */
  readonly shares: Shares;
  /** The share by which the client views; undefined for all others. */
  readonly share: Share | undefined;
  /** Where output goes if a client wants it on disk; null if there is no such place. */
  readonly spool: Spool | null;
  /** What processes leave for the next server; null if there will be none. */
  readonly durable: DurableState | null;
  /** Where the client connects from. */
  readonly peer: string;
  readonly observe: ServerObserver;
  /** Aborted when the connection ends. */
  readonly gone: AbortSignal;
}
