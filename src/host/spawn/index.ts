export { releaseChunk, retainChunk } from './chunk-memory.js';
export type { Child, ChildSink, ChildSpec, InheritedFd, ParkedChild } from './child.js';
export { claimHost } from './claim.js';
export type { ChildEnd } from './exit-status.js';
export {
  adoptOrphans,
  type HostCapabilities,
  hostCapabilities,
  spawnChild,
  spawnParkedChild,
} from './spawn-child.js';
export { assertSpawnable } from './spawn-failure.js';
export { killAllTrees, killTrees, recordTrees } from './tree-killer.js';
export {
  dismissWatchdog,
  ensureWatchdog,
  onWatchdogTrouble,
  type WatchdogTrouble,
} from './watchdog.js';
