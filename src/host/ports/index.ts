export { connectPort, type SocketReader } from './connect-port.js';
export { findTarget } from './port-target.js';
export { listListeners, watchListeners } from './port-watch.js';
export { addSandbox } from './sandbox-networks.js';
export { type TreeOwner, visiblePorts } from './visible-ports.js';
export { closeUnused } from './socket-supply.js';
