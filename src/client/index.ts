/**
 * The client of an exec server: as an environment, or for single calls of the protocol.
 *
 * @module execwire/client
 */

export type { CallOptions, ExecClientOptions } from './connection/client-options.js';
export type { ClientListener } from './connection/client-listeners.js';
export { ExecClient } from './connection/exec-client.js';
export { MAX_UNREAD_BYTES } from './connection/unread-budget.js';
export { RemoteEnvironment } from './remote-environment.js';
export type { ServerProcess } from './server-view.js';
export type { ProcessShare } from './shares.js';
export { RemoteProcess } from './process/remote-process.js';
export type { ServerStatus, UpgradeRequest } from './server-upgrade.js';
export { startProcess } from './process/start-process.js';
export { type DialOptions, dialWebSocket } from '../transport/websocket-dial.js';
export { ExecError, isExecError } from '../protocol/index.js';
