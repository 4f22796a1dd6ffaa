import type { Channel } from '../rpc/index.js';
import type { ConnectionRecord } from './durable/records.js';
import type { Upgrades } from './durable/upgrades.js';
import type { ServerParts } from './server-parts.js';
import type { Share } from './shares.js';

/** What a server gives each of its connections. */
export interface ConnectionOptions extends ServerParts {
  readonly channel: Channel;
  /** False if the client cannot reconnect, as on stdio: the session then ends with the connection. */
  readonly resumable: boolean;
  /** The number of the address it connected to; undefined if there is none. */
  readonly door: number | undefined;
  /** What the server that passed it on knew about it. */
  readonly handshake?: ConnectionRecord['handshake'] | undefined;
  /** Who the client is; undefined if it cannot have processes that outlive its session. */
  readonly principal: string | undefined;
  /** The share by which it views one process, and nothing else; undefined for all others. */
  readonly share: Share | undefined;
  /** Where the client connects from. */
  readonly peer: string;
  /** Called with the duration of each request, in seconds. */
  readonly timeRequest?: ((method: string, seconds: number) => void) | undefined;
  readonly probe: () => void;
  readonly introduced: () => void;
  /** Replaces the server; null if nothing outlives it. */
  readonly upgrades: Upgrades | null;
  /** Whether clients may send HTTP requests from this machine. */
  readonly http: boolean;
  /** Whether nothing new may be started. */
  readonly isDraining: () => boolean;
  readonly closed: () => void;
}
