export { discoverUserCapabilities, type Skill } from './user-capabilities.js';
export type { CapabilityFile } from './capability-reader.js';
export { type DiscoveredRoot, discoverRoot } from './capability-roots.js';
export { type ConfigLayer, readEnvironmentConfig } from './environment-config.js';
