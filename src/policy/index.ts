export { permissionsFromAppPolicy } from './app-policy.js';
export { createSandboxChooser } from './choose-sandbox.js';
export { policyOfRequest } from './known-policies.js';
export { type NamedPolicy, namedSandbox, type PolicyPlace } from './named-sandbox.js';
export { readOnlySandbox } from './narrow-sandbox.js';
export { contextOf, type PolicyContext, policyFromPermissions, temporaryDirectoryOf } from './permissions.js';
export {
  type Access,
  accessAt,
  type ConfinedPolicy,
  DEFAULT_PROTECTED_NAMES,
  type FilePolicy,
  type HiddenPattern,
  indexRules,
  isWithin,
  type PathRule,
  parentOf,
  type SandboxPolicy,
} from './policy.js';
export { findProfile, type Profile } from './profiles.js';
export { readProfiles } from './profiles-file.js';
export { refuseConfinement, type SandboxChoice, type SandboxChooser } from './sandbox-choice.js';
