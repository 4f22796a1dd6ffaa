export type { CallOptions, ExecClientOptions } from './client-options.js';
export { ExecClient } from './exec-client.js';
export { MAX_UNREAD_BYTES } from './intake.js';
export { RemoteEnvironment, type ServerProcess } from './remote-environment.js';
export { RemoteProcess } from './remote-process.js';
export { startProcess } from './start-process.js';
export { type DialOptions, dialWebSocket } from '../transport/websocket-dial.js';
export { ExecError, isExecError } from '../protocol/index.js';
