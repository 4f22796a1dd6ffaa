export type { Listener } from './listeners.js';
export { listListeners, watchListeners } from './port-watch.js';
export { addSandbox, type SandboxNetwork } from './sandbox-networks.js';
export { type TreeOwner, visiblePorts } from './visible-ports.js';
