export { type BwrapRequest, bwrapOptions } from './bwrap/bwrap-argv.js';
export {
  type Confinement,
  type ConfineSpec,
  confine,
  confinedEnv,
  type NetworkToJoin,
  SHARED_NETWORK,
} from './bwrap/confine.js';
export { DENIAL_TAIL_BYTES, type FinishedProcess, wasDenied } from './launch/denial.js';
export { type Disk, snapshotDisk, type PlaceKind, type ResolvedPath } from './plan/disk.js';
export { isPathChange, openExactly, pathChanged } from './plan/exact-path.js';
export { type FileView, type HeldView, hostView } from './plan/file-view.js';
export { findHidden } from './plan/hidden-search.js';
export { FileHelper, type HelperOptions, type HelperTarget } from './launch/file-helper.js';
export { FileHelpers, type HelperLease, type PoolLimits } from './launch/file-helpers.js';
export { planNow } from './plan/known-plans.js';
export { policyOfRequest } from '../../policy/internal.js';
export { findWaitingShell } from './launch/launcher.js';
export { LaunchReport } from './launch/launch-report.js';
export { type LaunchOrder, launchScript, SCRIPT_FD, waitingShell } from './launch/launch-script.js';
export { type Mount, type MountPlan, planMounts } from './plan/mount-plan.js';
export { releaseAllPlaceholders } from './plan/placeholder.js';
export { wasNetworkGranted } from './launch/network-grant.js';
export { hideFromSandboxes } from './plan/own-places.js';
export {
  contextOf,
  type PolicyContext,
  policyFromPermissions,
  temporaryDirectoryOf,
} from '../../policy/internal.js';
export {
  type Access,
  type ConfinedPolicy,
  DEFAULT_PROTECTED_NAMES,
  type FilePolicy,
  type HiddenPattern,
  type PathRule,
  type SandboxPolicy,
} from '../../policy/internal.js';
export { checkCwd, locateVisibleProgram, type View } from './plan/visible-program.js';
export { KERNEL_TYPES, type MountedPlace, mountTable, parseMountTable } from './plan/mount-table.js';
export { compileGlob } from './plan/glob.js';
export { probeSandbox, type SandboxSupport, sandboxSupport, withSupport } from './probe/probe.js';
export { gaps, type SandboxGap } from './probe/probe-failure.js';
export { explainSetupFailure, type FailedStart } from './launch/setup-failure.js';
export { type FilterOptions, seccompFilter } from './seccomp/seccomp.js';
export { type SandboxOutcome, SandboxStatus } from './launch/status.js';
export { idleMsOf, viewIdentity } from './launch/view-identity.js';
export type { KeptSandbox } from './launch/adopted-sandbox.js';
export { SandboxedLaunch } from './launch/sandboxed-launch.js';
export type { ConfinedSpec } from './launch/sandboxed-launch.js';
export { SpareSandboxes } from './launch/spare-sandboxes.js';
