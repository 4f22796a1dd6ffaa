// The internal entry point, for the code that enforces policies. Library users get `index.ts`.
export { policyOfRequest } from './known-policies.js';
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
