export { configurationHome } from './environments-file.js';
export { LocalEnvironment } from './local.js';
export { type EnvironmentStatus, EnvironmentManager, type OpenEnvironment } from './manager.js';
export { loadEnvironments } from './providers.js';
