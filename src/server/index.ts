export { ExecServer, type ExecServerOptions } from './exec-server.js';
export type { ServerLog } from './log.js';
export { DEFAULT_MAX_SESSIONS, DEFAULT_SESSION_TTL_MS } from './session-registry.js';
