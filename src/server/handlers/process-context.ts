import type { ClientKeep } from '../kept-by.js';
import type { SessionRegistry } from '../session-registry.js';
import type { Session } from '../session.js';

/** What the process methods of one connection work on. */
export interface ProcessContext {
  readonly session: () => Session;
  readonly sessions: Pick<SessionRegistry, 'all' | 'get'>;
  /** The kept processes of this client. */
  readonly keep: ClientKeep;
  /** Aborted when the connection ends. */
  readonly gone: AbortSignal;
}
