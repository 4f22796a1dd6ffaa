/**
 * Turns sandbox policies and permission profiles into sandboxes.
 *
 * @module execwire/policy
 */

export {
  AppSandboxPolicy,
  type NetworkDenial,
  NetworkPermission,
  type NetworkRules,
  PermissionEntry,
  PermissionPath,
  Permissions,
  Sandbox,
  SandboxType,
  SpecialPath,
} from '../protocol/index.js';
export { permissionsFromAppPolicy } from './app-policy.js';
export { createSandboxChooser } from './choose-sandbox.js';
export { type NamedPolicy, namedSandbox, type PolicyPlace } from './named-sandbox.js';
export { readOnlySandbox } from './narrow-sandbox.js';
export { sandboxOfProfile } from './profile-sandbox.js';
export { findProfile, type Profile, type ProfileTables } from './profiles.js';
export { readProfiles } from './profiles-file.js';
export { refuseConfinement, type SandboxChoice, type SandboxChooser } from './sandbox-choice.js';
