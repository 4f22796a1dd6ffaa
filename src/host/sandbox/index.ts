export { permissionsFromAppPolicy } from './app-policy.js';
export { type BwrapRequest, bwrapOptions } from './bwrap-argv.js';
export { type Confinement, type ConfineSpec, confine, confinedEnv } from './confine.js';
export { DENIAL_TAIL_BYTES, type FinishedProcess, wasDenied } from './denial.js';
export { type Disk, diskOfNow, type PlaceKind, type ResolvedPath } from './disk.js';
export { FileHelper, type HelperOptions, type HelperTarget } from './file-helper.js';
export { FileHelpers, type HelperLease, type PoolLimits } from './file-helpers.js';
export { openPipe, pipeCapacity } from './kernel.js';
export { planNow } from './known-plans.js';
export { policyOfRequest } from './known-policies.js';
export { findLaunchTools } from './launcher.js';
export {
  Launch,
  type LaunchOrder,
  type LaunchTools,
  SCRIPT_FD,
  waitingShell,
} from './launch-script.js';
export { type Mount, type MountPlan, planMounts } from './mount-plan.js';
export { contextOf, type PolicyContext, policyFromPermissions, temporaryDirectoryOf } from './permissions.js';
export {
  type Access,
  type ConfinedPolicy,
  DEFAULT_PROTECTED_NAMES,
  type FilePolicy,
  type HiddenPattern,
  type PathRule,
  type SandboxPolicy,
} from './policy.js';
export { checkCwd, locateVisibleProgram, type View } from './program.js';
export { probeSandbox, type SandboxSupport, sandboxSupport } from './probe.js';
export type { SandboxGap } from './probe-failure.js';
export { explainSetupFailure, type FailedStart } from './setup-failure.js';
export { type FilterOptions, seccompFilter } from './seccomp.js';
export { type SandboxOutcome, SandboxStatus } from './status.js';
export { idleMsOf, viewIdentity } from './warm-view.js';
