/** What a process needs that starts servers and nothing else. A door of its own: such a process should be small. */
export { DescriptorScope } from './descriptors.js';
export { ledgerFile } from './ledger.js';
export { continueTrees, createLineage, inheritLineage, type Lineage } from './lineage.js';
export { spareSibling } from './orphan-tree.js';
export { posixSpawn } from './posix-spawn.js';
export { listenForExits, reapedElsewhere, reapEverything, watchExit } from './reaper.js';
export type { ResourceUsage } from './resource-usage.js';
export { inheritMarks, marksAvailable } from './tree-mark.js';
export { dismissWatchdog, ensureWatchdog } from './watchdog.js';
