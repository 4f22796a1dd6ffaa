/**
 * Serve this machine to clients, over listeners or over channels of your own.
 *
 * @module execwire/server
 */

export type { CollectGarbage } from './bulk-garbage.js';
export { ExecServer } from './exec-server.js';
export type { AcceptOptions, ExecServerOptions, ServerStatus } from './exec-server-options.js';
export type { ClientFacts, ProcessFacts, ServerEvent, ServerObserver } from './server-events.js';
export { DEFAULT_MAX_KEPT_PROCESSES } from './keep.js';
export { DEFAULT_KEEP_ENDED_MS } from './kept-room.js';
export type { ServerLog } from './log.js';
export type { Share } from './shares.js';
export { type ServeOptions, type Serving, serve } from './serve.js';
export { DEFAULT_MAX_SESSIONS, DEFAULT_SESSION_TTL_MS } from './session-registry.js';
export type { SpoolOptions } from '../spool/index.js';
