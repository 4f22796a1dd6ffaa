export { FleetDirectory } from './fleet-directory.js';
export { LocalCluster } from './local-cluster.js';
export type { Role } from './permissions.js';
