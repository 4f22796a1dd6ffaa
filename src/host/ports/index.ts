export { connectPort, type SocketReader } from './connect-port.js';
export { findTarget, type PortRequest, type PortTarget } from './port-target.js';
export type { Listener } from './listeners.js';
export { listListeners, watchListeners } from './port-watch.js';
export { addSandbox, type SandboxNetwork } from './sandbox-networks.js';
export { type TreeOwner, visiblePorts } from './visible-ports.js';
export { closeUnused } from './socket-supply.js';
