export { defaultChangesDirectory } from './local-changes.js';
export type {
  EnvironmentConfig,
  EnvironmentsConfig,
  ProgramEnvironment,
  UrlEnvironment,
} from './configuration.js';
export { configurationHome } from './configuration-home.js';
export { resolveSandbox } from './default-sandbox.js';
export { dialEnvironment } from './dial-environment.js';
export { LocalEnvironment, type LocalEnvironmentOptions } from './local.js';
export { EnvironmentManager, type EnvironmentStatus, type OpenEnvironment } from './manager.js';
export {
  chooseEnvironment,
  type EnvironmentChoice,
  isLocal,
  openChosen,
  openEnvironment,
  type OpenOptions,
  type SandboxOptions,
} from './open-environment.js';
export { loadEnvironments } from './providers.js';
