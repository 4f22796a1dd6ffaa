export { CHUNK_BYTES, releaseChunk, retainChunk } from './chunk-memory.js';
export type { Child, ChildSink, ChildSpec, ParkedChild } from './child.js';
export type { ChildKeeping, KeptChild, StoppedSandbox } from './child-keeping.js';
export { claimHost } from './claim.js';
export type { ChildEnd } from './exit-status.js';
export { goneChild } from './gone-child.js';
export { spawnGuarded } from './guarded-spawn.js';
export { inputNames, keptWrites, removeKeptInput } from './kept-input.js';
export type { TreeRoot } from './known-trees.js';
export { adoptPosixChild } from './posix-child.js';
export { terminalSize } from './pseudo-terminal.js';
export {
  adoptOrphans,
  type HostCapabilities,
  hostCapabilities,
  spawnChild,
  spawnParkedChild,
} from './spawn-child.js';
export { assertSpawnable } from './spawn-failure.js';
export { assertLimits, limitOptions, limitsAvailable } from './process-limits.js';
export { rememberLeftTree } from './left-trees.js';
export { currentTrees, killTrees, killUnknownTrees, recordTrees } from './tree-killer.js';
export { dismissWatchdog, ensureWatchdog, onWatchdogTrouble } from './watchdog.js';
