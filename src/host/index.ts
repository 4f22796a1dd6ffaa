export {
  adoptOrphans,
  type Child,
  dismissWatchdog,
  type HostCapabilities,
  hostCapabilities,
  killAllTrees,
} from './child/index.js';
export { childEnvironment } from './environment-variables.js';
export { LocalFileSystem } from './files/index.js';
export { LocalProcess, type LocalProcessSpec } from './local-process.js';
export { machineInfo, version } from './machine-info.js';
export { DEFAULT_MAX_PROCESSES, ProcessTable, type ProcessTableOptions } from './process-table.js';
