import type { ChangeSets, ConfinableFileSystem } from '../host/index.js';
import type { ByteBudget, Channel } from '../rpc/index.js';
import type { Spool } from '../spool/index.js';
import type { BulkGarbage } from './bulk-garbage.js';
import type { DurableState } from './durable/durable-state.js';
import type { ConnectionRecord } from './durable/records.js';
import type { Upgrades } from './durable/upgrades.js';
import type { ServerLog } from './log.js';
import type { ServerObserver } from './server-events.js';
import type { SessionRegistry } from './session-registry.js';
import type { Share, Shares } from './shares.js';

/** What a server gives each of its connections. */
export interface ConnectionOptions {
  readonly channel: Channel;
  readonly sessions: SessionRegistry;
  readonly log: ServerLog;
  /** False if the client cannot reconnect, as on stdio: the session then ends with the connection. */
  readonly resumable: boolean;
  /** The number of the address it came in at; undefined if it did not come in at one. */
  readonly door: number | undefined;
  /** What another server knew of it, which has given it away. */
  readonly handshake?: ConnectionRecord['handshake'] | undefined;
  /** Who the client is; undefined if it cannot have processes that outlive its session. */
  readonly principal: string | undefined;
  /** By which it views one process, and nothing else; undefined for all others. */
  readonly share: Share | undefined;
  readonly shares: Shares;
  /** Where the client connects from. */
  readonly peer: string;
  readonly observe: ServerObserver;
  /** Told how long requests took, in seconds. */
  readonly timeRequest?: ((method: string, seconds: number) => void) | undefined;
  readonly probe: () => void;
  readonly introduced: () => void;
  readonly windowBytes: number;
  readonly files: ConfinableFileSystem;
  readonly garbage: BulkGarbage;
  /** The message budget shared by all connections. */
  readonly budget: ByteBudget;
  readonly spool: Spool | null;
  /** Where changes are held; null if there is no such place. */
  readonly changes: ChangeSets | null;
  readonly durable: DurableState | null;
  /** Replaces the server; null if nothing outlives it. */
  readonly upgrades: Upgrades | null;
  /** Whether clients may send HTTP requests from this machine. */
  readonly http: boolean;
  /** Whether nothing new may be started. */
  readonly isDraining: () => boolean;
  readonly closed: () => void;
}
