export type { ListeningPort, PortEvent, PortsOptions, PortWatch } from './listening-port.js';
export { PortChanges } from './port-changes.js';
