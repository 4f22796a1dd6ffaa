export {
  adoptOrphans,
  claimHost,
  dismissWatchdog,
  ensureWatchdog,
  type HostCapabilities,
  hostCapabilities,
  limitsAvailable,
  onWatchdogTrouble,
  killUnknownTrees,
  releaseChunk,
  rememberLeftTree,
  inputNames,
  removeKeptInput,
  retainChunk,
  type StoppedSandbox,
  terminalSize,
  type TreeRoot,
} from './spawn/index.js';
export type { ProcessKeeping, TakenProcess } from './process-keeping.js';
export { leaveHost } from './leave-host.js';
export { packageFile } from './kernel/package-file.js';
export { openBytes, randomBytes, reserveSpace } from './kernel/index.js';
export { childEnvironment } from './environment-variables.js';
export { ConfinableFileSystem, type HostFileSystem, noChanges } from './files/index.js';
export {
  ChangeSets,
  type ChangesOwner,
  DEFAULT_LIMITS,
  type ChangesSupport,
  type HeldUse,
  newSetId,
  OwnedChanges,
  type SetKeeping,
} from './changes/index.js';
export { hideFromSandboxes, SandboxedLaunch, sandboxSupport } from './sandbox/index.js';
export { STDIN_WINDOW_BYTES } from './child-input.js';
export { LocalProcess } from './local-process.js';
export type { LocalProcessSpec, Surroundings } from './local-process-spec.js';
export { KeptEgress } from './kept-egress.js';
export { snapshotsAvailable } from './shell-snapshot/index.js';
export type { AskAboutHost, Decided, Decision, HostAnswer, NetworkRequest } from './network/index.js';
export { managesNetwork, networkUse } from './managed-network.js';
export type { ExistingProxyUse, NetworkUse } from './egress.js';
export { holdFiles } from './hold-changes.js';
export { machineInfo, version } from './machine-info.js';
export { homeToStartIn } from './start-directory.js';
export { machineUsage } from './machine-usage.js';
export { admitsPeer, peerUser } from './peer/index.js';
export {
  connectPort,
  findTarget,
  listListeners,
  type SocketReader,
  type TreeOwner,
  visiblePorts,
  watchListeners,
} from './ports/index.js';
export {
  abandonStart,
  DEFAULT_MAX_PROCESSES,
  processIdInUse,
  ProcessTable,
  type ProcessTableOptions,
  type SetAside,
} from './process-table.js';
