export {
  discoverUserCapabilities,
  type RootedSkill,
  type Skill,
  type UserCapabilities,
  type UserPlugin,
} from './user-capabilities.js';
export type { CapabilityFile } from './capability-reader.js';
export { type CapabilityRoot, type DiscoveredRoot, discoverRoot } from './capability-roots.js';
export {
  type ConfigLayer,
  type EnvironmentConfig,
  type KeyPath,
  readEnvironmentConfig,
} from './environment-config.js';
