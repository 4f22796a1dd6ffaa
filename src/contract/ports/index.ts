export type { ListeningPort, PortEvent, PortsOptions, PortWatch } from './listening-port.js';
export type { ConnectOptions, ForwardOptions, PortForward } from './port-forward.js';
export { PortChanges } from './port-changes.js';
